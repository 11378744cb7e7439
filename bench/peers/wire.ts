/**
 * The bytes that the benchmark itself writes and reads: raw, without our
 * framing code, the same for every contender.
 *
 * @module
 */

/** How one message is told from the next. */
export type Framing = "newline" | "content-length";

/** Where the ids of {@linkcode call} begin: six digits, so that all answers are equally long. */
export const FIRST_ID = 100_000;

const CALL_PARAMS =
  '"name":"conjugate","arguments":{"verb":"eat","tense":"past_simple","person":"3sg"}}}';
const encoder = new TextEncoder();

/**
 * Frame one JSON text.
 *
 * @param text The JSON.
 * @param framing How to frame it.
 * @returns The bytes to write.
 */
export function frame(text: string, framing: Framing): Uint8Array<ArrayBuffer> {
  const body = encoder.encode(text);
  return framing === "newline"
    ? encoder.encode(`${text}\n`)
    : concat(header(body.length), body);
}

/**
 * Build the request that opens a session.
 *
 * @param framing How to frame it.
 * @returns The bytes to write.
 */
export function initialize(framing: Framing): Uint8Array<ArrayBuffer> {
  return frame(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",' +
      '"capabilities":{},"clientInfo":{"name":"bench","version":"0.1"}}}',
    framing,
  );
}

/**
 * Build the notification that ends the handshake.
 *
 * @param framing How to frame it.
 * @returns The bytes to write.
 */
export function initialized(framing: Framing): Uint8Array<ArrayBuffer> {
  return frame(
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    framing,
  );
}

/**
 * Build one call of `conjugate`.
 *
 * @param id The id, of six digits.
 * @param framing How to frame it.
 * @returns The bytes to write.
 */
export function call(id: number, framing: Framing): Uint8Array<ArrayBuffer> {
  return frame(
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${CALL_PARAMS}`,
    framing,
  );
}

/**
 * Build one call of an exact length. What fills it is a string in `_meta`, where
 * every peer lets it pass: as an argument it would be trimmed, lower-cased and
 * quoted by some tools, and tools are not what is measured.
 *
 * @param id The id, of six digits.
 * @param size The length of the JSON, in bytes.
 * @param framing How to frame it.
 * @returns The bytes to write.
 */
export function paddedCall(
  id: number,
  size: number,
  framing: Framing,
): Uint8Array<ArrayBuffer> {
  const before = encoder.encode(
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"_meta":{"example.com/pad":"`,
  );
  const after = encoder.encode(`"},${CALL_PARAMS}`);
  const pad = new Uint8Array(size - before.length - after.length).fill(97);
  return framing === "newline"
    ? concat(before, pad, after, encoder.encode("\n"))
    : concat(header(size), before, pad, after);
}

/**
 * Find the end of the first message.
 *
 * @param bytes What has come so far.
 * @param framing How it is framed.
 * @returns Its length in bytes with its frame, or `undefined` where it is not whole yet.
 */
export function firstLength(
  bytes: Uint8Array,
  framing: Framing,
): number | undefined {
  if (framing === "newline") {
    const end = bytes.indexOf(10);
    return end < 0 ? undefined : end + 1;
  }
  const text = new TextDecoder("latin1").decode(bytes);
  const match = /^[^]*?content-length: *(\d+)[^]*?\r\n\r\n/i.exec(text);
  if (match === null) return undefined;
  const length = match[0].length + Number(match[1]);
  return length <= bytes.length ? length : undefined;
}

function header(length: number): Uint8Array<ArrayBuffer> {
  return encoder.encode(`Content-Length: ${length}\r\n\r\n`);
}

/**
 * Join byte arrays.
 *
 * @param parts The arrays.
 * @returns One array of all their bytes.
 */
export function concat(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
