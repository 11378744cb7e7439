/**
 * The framings, as pure functions of bytes: how a stream is cut into messages,
 * and how a message is put into bytes. The only file that knows what a header
 * is.
 *
 * @module
 */

import { describe, ErrorCode } from "./jsonrpc.ts";
import { FramingError, messageOf, ProtocolError } from "./errors.ts";
import { GatheredText, type Source } from "./_bytes.ts";

/**
 * How a message is told from the next one: by a header with its length in
 * bytes (LSP 3.17, base protocol), or by a line end (MCP, transports, stdio).
 */
export type Framing = "content-length" | "newline";

/** One framing: how a stream is cut into messages, and how a message is put into bytes. */
export interface Framer {
  unframer: (maxMessageBytes: number) => Unframer;
  /** Encode a frame into `target`, which has room for `maxFrameBytes(json)`; gives its length. */
  encodeInto: (json: string, target: Uint8Array) => number;
  /** Whether what a program prints by mistake is a frame of its own, so that the next one is still found. */
  framesPrints: boolean;
}

/** Takes message after message from the front of a source. */
export interface Unframer {
  /** The next message, or `undefined` if the source must be filled first or, once it has ended, is empty. */
  take: (source: Source) => object | undefined;
}

export const framers: Record<Framing, Framer> = {
  "content-length": {
    unframer: (max) => new HeaderUnframer(max),
    encodeInto: (json, target) => {
      // The header's length hangs on the digits of the body's, which are
      // those of the string's unless the body is not ASCII.
      const guess = headerFor(json.length).length;
      const { written } = encoder.encodeInto(json, target.subarray(guess));
      const header = headerFor(written);
      if (header.length !== guess) {
        target.copyWithin(header.length, guess, guess + written);
      }
      encoder.encodeInto(header, target);
      return header.length + written;
    },
    framesPrints: false,
  },
  "newline": {
    unframer: (max) => new LineUnframer(max),
    encodeInto: (json, target) => {
      const { written } = encoder.encodeInto(json, target);
      target[written] = LF;
      return written + 1;
    },
    framesPrints: true,
  },
};

/** Every framing, by name. */
export const FRAMINGS = Object.keys(framers) as readonly Framing[];

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });
const latin1 = new TextDecoder("latin1");

/**
 * Tell the framing from the first byte that is neither blank nor part of a
 * byte order mark: only a line of JSON begins with `{` or `[`.
 *
 * @param byte The byte.
 * @returns The framing.
 */
export function detectFraming(byte: number): Framing {
  return byte === OPEN_BRACE || byte === OPEN_BRACKET
    ? "newline"
    : "content-length";
}

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LF = 0x0a;
const CR = 0x0d;

function headerFor(bodyLength: number): string {
  return `Content-Length: ${bodyLength}\r\n\r\n`;
}

/** UTF-8 needs at most three bytes for a UTF-16 unit; no header needs more than 64. */
export function maxFrameBytes(json: string): number {
  return json.length * 3 + 64;
}

export function encodeFrame(json: string, framing: Framing): Uint8Array {
  const target = new Uint8Array(maxFrameBytes(json));
  return target.subarray(0, framers[framing].encodeInto(json, target));
}

/** Messages that end at a line end (MCP, transports, stdio). */
class LineUnframer implements Unframer {
  readonly #max: number;
  /** Whole lines that were decoded at once, and how far they are served. */
  #text = "";
  #textAt = 0;
  /** A line of which only the beginning has come. */
  #begun = false;
  readonly #line = new GatheredText();
  #lineBytes = 0;
  #lastByte = 0;
  /** The chunk that is not UTF-8 throughout. */
  #badChunk: Uint8Array | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  take(source: Source): object | undefined {
    for (;;) {
      const decoded = this.#takeDecoded();
      if (decoded !== undefined) {
        const text = withoutLeadingBlanks(decoded);
        if (text !== "") return parseText(text);
        continue;
      }
      if (!this.#begun) {
        if (source.firstByte() === undefined) return undefined;
        if (this.#decodeLines(source)) continue;
        this.#begun = true;
      }
      const line = this.#takeLine(source);
      if (line === undefined) return undefined;
      return parseText(withoutLeadingBlanks(line));
    }
  }

  #takeDecoded(): string | undefined {
    if (this.#textAt >= this.#text.length) return undefined;
    const end = this.#text.indexOf("\n", this.#textAt);
    const line = this.#text.slice(this.#textAt, end);
    this.#textAt = end + 1;
    if (this.#textAt === this.#text.length) {
      this.#text = "";
      this.#textAt = 0;
    }
    return line;
  }

  /**
   * Decode all whole lines of the chunk at once: a tenth of the cost of one at
   * a time. Right because a line end is one byte in UTF-8 and part of no other
   * character; a chunk that is longer than a message may be, or not UTF-8
   * throughout, goes line by line.
   */
  #decodeLines(source: Source): boolean {
    const { chunk, at } = source;
    if (chunk.length - at > this.#max || chunk === this.#badChunk) return false;
    const end = chunk.lastIndexOf(LF) + 1;
    if (end <= at) return false;
    try {
      this.#text = decoder.decode(chunk.subarray(at, end));
    } catch {
      this.#badChunk = chunk;
      return false;
    }
    source.at = end;
    return true;
  }

  #takeLine(source: Source): string | undefined {
    while (source.more()) {
      const { chunk, at } = source;
      const end = chunk.indexOf(LF, at);
      source.at = end < 0 ? chunk.length : end + 1;
      this.#gather(chunk.subarray(at, end < 0 ? chunk.length : end));
      if (end >= 0) return this.#finishLine();
    }
    return source.ended ? this.#finishLine() : undefined;
  }

  /** A line over the limit is counted, not kept; one more byte may be the CR of its end. */
  #gather(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#lineBytes += bytes.length;
    this.#lastByte = bytes[bytes.length - 1] ?? 0; // never absent
    if (this.#lineBytes <= this.#max + 1) this.#line.add(bytes);
    else this.#line.clear();
  }

  #finishLine(): string {
    const length = this.#lineBytes - (this.#lastByte === CR ? 1 : 0);
    this.#begun = false;
    this.#lineBytes = 0;
    if (length <= this.#max) return textOf(this.#line);
    this.#line.clear();
    throw new TooLongError(length, this.#max);
  }
}

/** Messages behind a header block with their length (LSP 3.17, base protocol). */
class HeaderUnframer implements Unframer {
  readonly #max: number;
  readonly #header = new Uint8Array(MAX_HEADER_BYTES);
  #headerLength = 0;
  /** The announced length, while a body is awaited. */
  #length: number | undefined;
  readonly #body = new GatheredText();
  #bodyBytes = 0;
  /** A chunk, and its text if it is nothing but ASCII. */
  #textChunk: Uint8Array | undefined;
  #text: string | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  take(source: Source): object | undefined {
    if (this.#length === undefined) {
      const length = this.#takeHeader(source);
      if (length === undefined) return undefined;
      this.#length = length;
      if (length > this.#max) throw new TooLongError(length, this.#max);
    }
    const length = this.#length;
    const text = this.#takeText(source, length);
    if (text !== undefined) {
      this.#length = undefined;
      return parseText(text);
    }
    while (this.#bodyBytes < length && source.more()) {
      const part = source.takeAtMost(length - this.#bodyBytes);
      this.#bodyBytes += part.length;
      if (length <= this.#max) this.#body.add(part);
    }
    if (this.#bodyBytes < length) {
      if (!source.ended) return undefined;
      throw new FramingError(
        `Cannot read message: stream ended after ${this.#bodyBytes} of ` +
          `${length} bytes`,
      );
    }
    this.#length = undefined;
    this.#bodyBytes = 0;
    if (length > this.#max) return this.take(source);
    return parseText(withoutLeadingBlanks(textOf(this.#body)));
  }

  #takeHeader(source: Source): number | undefined {
    if (this.#headerLength === 0) {
      if (source.firstByte() === undefined) return undefined;
      const length = takeUsualHeader(source);
      if (length !== undefined) return length;
    }
    const header = this.#header;
    while (source.more()) {
      if (this.#headerLength === MAX_HEADER_BYTES) {
        throw new FramingError(
          `Cannot read header block: length is over ${MAX_HEADER_BYTES} bytes`,
        );
      }
      const n = this.#headerLength++;
      header[n] = source.chunk[source.at++] ?? 0; // never absent
      const beforeEnd = header[n - 1] === CR ? header[n - 2] : header[n - 1];
      if (header[n] === LF && beforeEnd === LF) {
        this.#headerLength = 0;
        return parseHeader(latin1.decode(header.subarray(0, n)));
      }
    }
    if (source.ended) {
      throw new FramingError(
        `Cannot read header block: stream ended after ${this.#headerLength} bytes`,
      );
    }
    return undefined;
  }

  /**
   * Take a body that is whole in its chunk out of the chunk's text, which is
   * decoded at once: a tenth of the cost of one body at a time. Right because
   * in a chunk of nothing but ASCII, which has as many characters as bytes,
   * each character lies where its byte lies; any other chunk goes body by body.
   */
  #takeText(source: Source, length: number): string | undefined {
    const { chunk, at } = source;
    const isWhole = this.#bodyBytes === 0 && chunk.length - at >= length;
    if (!isWhole || length > this.#max) return undefined;
    if (chunk !== this.#textChunk) {
      this.#textChunk = chunk;
      this.#text = decodeASCII(chunk);
    }
    if (this.#text === undefined) return undefined;
    source.at = at + length;
    return this.#text.slice(at, at + length);
  }
}

function decodeASCII(chunk: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(chunk);
    return text.length === chunk.length ? text : undefined;
  } catch {
    return undefined;
  }
}

const MAX_HEADER_BYTES = 8 * 1024;
const USUAL_HEADER = encoder.encode("Content-Length: ");

/**
 * Take a header block of the usual spelling, whole in the chunk, without
 * making strings of it. Any other is left where it is, for the slow way.
 */
function takeUsualHeader(source: Source): number | undefined {
  const { chunk, at } = source;
  const digits = at + USUAL_HEADER.length;
  for (let i = at; i < digits; i++) {
    if (chunk[i] !== USUAL_HEADER[i - at]) return undefined;
  }
  let length = 0;
  let end = digits;
  for (;;) {
    const digit = (chunk[end] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    length = length * 10 + digit;
    end++;
  }
  if (
    end === digits || end > digits + MAX_LENGTH_DIGITS || chunk[end] !== CR ||
    chunk[end + 1] !== LF || chunk[end + 2] !== CR || chunk[end + 3] !== LF
  ) {
    return undefined;
  }
  source.at = end + 4;
  return length;
}

/** As many digits as a safe integer surely has room for. */
const MAX_LENGTH_DIGITS = 15;

/** Names are case-insensitive, blanks around name and value mean nothing (RFC 9110 §5.1, §5.5). */
const CONTENT_LENGTH = /^[ \t]*content-length[ \t]*:[ \t]*(.*?)[ \t]*\r?$/is;

function parseHeader(block: string): number {
  let length: number | undefined;
  for (const line of block.split("\n")) {
    const value = CONTENT_LENGTH.exec(line)?.[1];
    if (value === undefined) continue;
    if (!/^\d{1,15}$/.test(value)) {
      throw new FramingError(
        `Cannot read header "Content-Length": value is ${describe(value)}, ` +
          `expected 1 to ${MAX_LENGTH_DIGITS} digits`,
      );
    }
    if (length !== undefined && length !== Number(value)) {
      throw new FramingError(
        `Cannot read header "Content-Length": values are ${length} and ` +
          `${Number(value)}, expected one`,
      );
    }
    length = Number(value);
  }
  if (length === undefined) {
    throw new FramingError(
      `Cannot read header block ${describe(block.trim())}: ` +
        'header "Content-Length" is missing',
    );
  }
  return length;
}

function textOf(gathered: GatheredText): string {
  try {
    return gathered.take();
  } catch (error) {
    throw new ProtocolError("Cannot read message: body is not UTF-8", {
      code: ErrorCode.ParseError,
      cause: error,
    });
  }
}

/** JSON's white space (RFC 8259 §2) and byte order marks. */
const LEADING_BLANKS = /^[\ufeff \t\r\n]+/;

function withoutLeadingBlanks(text: string): string {
  return text.charCodeAt(0) === OPEN_BRACE
    ? text
    : text.replace(LEADING_BLANKS, "");
}

function parseText(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProtocolError(
      `Cannot read message: body is not JSON: ${messageOf(error)}`,
      { code: ErrorCode.ParseError, cause: error },
    );
  }
  if (typeof value !== "object" || value === null) {
    throw new ProtocolError(
      `Cannot read message: value is ${
        describe(value)
      }, expected an object or an array`,
      { code: ErrorCode.InvalidRequest },
    );
  }
  return value;
}

/** A message was skipped for its length. */
export class TooLongError extends ProtocolError {
  constructor(length: number, limit: number) {
    super(
      `Cannot read message: length is ${length} bytes, limit is ${limit} bytes`,
      { code: ErrorCode.InvalidRequest },
    );
  }
}
