/**
 * A reader that is slow and obvious: the whole input in hand, as a string with
 * a character for each byte. Whatever the bytes and the chunks, `readMessage`
 * must agree with it.
 *
 * @module
 */

import { type Framing, type MessageReader, readMessage } from "../framing.ts";
import { ProtocolError, TransportError } from "../protocol/errors.ts";

/** What {@linkcode outcomesOf} must give, each line at least as far as it goes here. */
export function expectedOutcomes(
  bytes: Uint8Array,
  maxMessageBytes: number,
  framing?: Framing,
): string[] {
  const input = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return READERS[framing ?? detect(skipBlanks(input))](input, maxMessageBytes);
}

const READERS: Record<Framing, (input: string, max: number) => string[]> = {
  "content-length": readFrames,
  "newline": readLines,
};

function detect(input: string): Framing {
  return /^[{[]/.test(input) ? "newline" : "content-length";
}

function readLines(input: string, max: number): string[] {
  return input.split("\n")
    .map((line) => skipBlanks(line).replace(/\r$/, ""))
    .filter((line) => line !== "")
    .map((line) => line.length > max ? "-32600" : parse(line));
}

function readFrames(input: string, max: number): string[] {
  const rest = skipBlanks(input);
  if (rest === "") return [];
  const block = /^[^]*?\n\r?\n/.exec(rest)?.[0];
  if (block === undefined || block.length > 8192) return ["FramingError"];
  const values = block.split("\n").flatMap((line) =>
    /^[ \t]*content-length[ \t]*:[ \t]*([^]*?)[ \t]*\r?$/i.exec(line)?.[1] ?? []
  );
  const [length] = values.map(Number);
  if (
    length === undefined ||
    values.some((value) =>
      !/^\d{1,15}$/.test(value) || Number(value) !== length
    )
  ) return ["FramingError"];
  const end = block.length + length;
  const outcome = length > max ? ["-32600"] : [];
  if (rest.length < end) return [...outcome, "FramingError"];
  if (length <= max) outcome.push(parse(rest.slice(block.length, end)));
  return [...outcome, ...readFrames(rest.slice(end), max)];
}

function parse(body: string): string {
  try {
    const bytes = Uint8Array.from(body, (byte) => byte.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
    const value = JSON.parse(text.replace(/^[\ufeff \t\r\n]+/, ""));
    const isMessage = typeof value === "object" && value !== null;
    return isMessage ? JSON.stringify(value) : "-32600";
  } catch {
    return "-32700";
  }
}

function skipBlanks(input: string): string {
  return input.replace(/^(?:\xef\xbb\xbf|[ \t\r\n])+/, "");
}

/**
 * All that `readMessage` gives up to the end, a line each: a message as JSON,
 * an error as its code, or its class where the stream is lost, and its message.
 */
export async function outcomesOf(reader: MessageReader): Promise<string[]> {
  const outcomes: string[] = [];
  for (;;) {
    try {
      const message = await readMessage(reader);
      if (message === null) return outcomes;
      outcomes.push(JSON.stringify(message));
    } catch (error) {
      if (error instanceof ProtocolError) {
        outcomes.push(`${error.code} ${error.message}`);
      } else if (error instanceof TransportError) {
        outcomes.push(`${error.name} ${error.message}`);
      } else {
        throw error;
      }
    }
  }
}
