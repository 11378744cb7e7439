/**
 * Bytes to messages and back: both framings, their detection, the size limit,
 * and going on after a bad message.
 *
 * How each framing cuts bytes is left to `protocol/_framers.ts`; what a
 * message means, to `protocol/jsonrpc.ts`.
 *
 * @module
 */

import { messageOf, TransportError } from "./protocol/errors.ts";
import { Source } from "./protocol/_bytes.ts";
import {
  detectFraming,
  encodeFrame,
  framers,
  type Framing,
  maxFrameBytes,
  type Unframer,
} from "./protocol/_framers.ts";

export type { Framing };

/** The longest message that is read, in bytes, if no other limit is set. */
export const DEFAULT_MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;

/** Longer text fits in no string of V8's. */
const MAX_STRING_LENGTH = 2 ** 29 - 24;

/** Options for reading and writing messages. */
export interface FramingOptions {
  /**
   * The framing. A reader without one detects it from the first bytes; a
   * writer without one uses `"content-length"`.
   */
  framing?: Framing | undefined;
  /**
   * The longest message that is read, in bytes, at least 1. A longer one is
   * skipped without being held in memory; so is one over 512 MiB, whatever is
   * set here.
   *
   * @default {67_108_864}
   */
  maxMessageBytes?: number | undefined;
}

/**
 * Holds a stream of bytes and what of it has been read but not yet served.
 *
 * Cost is linear in the bytes received, whatever the chunks: no byte is
 * scanned or copied more than a few times.
 *
 * @example
 * ```ts
 * import { MessageReader, readMessage } from "@miniagent/mcp/framing";
 * import { assertEquals } from "@std/assert";
 *
 * const reader = new MessageReader(new Blob(['{"id":1}\n{"id":2}\n']).stream());
 * assertEquals(await readMessage(reader), { id: 1 });
 * assertEquals(reader.framing, "newline");
 * assertEquals(reader.takeBuffered(), { id: 2 });
 * assertEquals(reader.takeBuffered(), undefined);
 * ```
 */
export class MessageReader {
  readonly #chunks: ChunkReader;
  readonly #source = new Source();
  readonly #maxMessageBytes: number;
  #framing: Framing | undefined;
  #unframer: Unframer | undefined;
  #filling: Promise<void> | undefined;
  #failure: TransportError | undefined;

  /**
   * Take a stream.
   *
   * @param stream The bytes. The reader locks it.
   * @param options The framing, if it is known, and the size limit.
   * @throws {RangeError} If `maxMessageBytes` is not a whole number of at
   * least 1.
   * @throws {TypeError} If the stream is locked.
   */
  constructor(
    stream: ReadableStream<Uint8Array>,
    options: FramingOptions = {},
  ) {
    const { framing, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options;
    if (!Number.isSafeInteger(maxMessageBytes) || maxMessageBytes < 1) {
      throw new RangeError(
        `Cannot read messages: maxMessageBytes is ${maxMessageBytes}, ` +
          "expected a whole number, at least 1",
      );
    }
    this.#chunks = new ChunkReader(stream);
    this.#maxMessageBytes = Math.min(maxMessageBytes, MAX_STRING_LENGTH);
    if (framing !== undefined) this.#setFraming(framing);
  }

  /** The framing, `undefined` until it is known. */
  get framing(): Framing | undefined {
    return this.#framing;
  }

  /** Whether the stream has ended: what is buffered is all there will be. */
  get ended(): boolean {
    return this.#source.ended || this.#failure !== undefined;
  }

  /** How many bytes wait, read from the stream but not yet looked at. */
  get bufferedBytes(): number {
    return this.#source.waitingBytes;
  }

  /**
   * Take the next message out of what has been read, without reading.
   *
   * @returns The message; `null` at a clean end of the stream, or once it is
   * lost; `undefined` if no whole message is buffered.
   * @throws {ProtocolError} As {@linkcode readMessage}.
   * @throws {FramingError} As {@linkcode readMessage}.
   * @throws {TransportError} As {@linkcode readMessage}.
   */
  takeBuffered(): object | null | undefined {
    try {
      if (this.#unframer === undefined) this.#detect();
      const message = this.#unframer?.take(this.#source);
      if (message !== undefined) return message;
      if (this.#failure !== undefined) throw this.#failure;
      return this.#source.ended ? null : undefined;
    } catch (error) {
      if (error instanceof TransportError) this.#drop();
      throw error;
    }
  }

  /**
   * Read one more chunk from the stream into the buffer. A second call while
   * one is under way gives the same promise, which never rejects: a stream that
   * failed is told by {@linkcode MessageReader.takeBuffered}, after what came
   * before.
   */
  fill(): Promise<void> {
    return this.#filling ??= this.#fill();
  }

  /** Stop reading: what is buffered is dropped, and a waiting read ends as at a clean end. */
  async cancel(): Promise<void> {
    this.#drop();
    try {
      await this.#chunks.cancel();
    } catch {
      // A stream that failed has nothing left to cancel.
    }
  }

  async #fill(): Promise<void> {
    try {
      const chunk = await this.#chunks.read(this.#source.letGo());
      if (chunk === undefined) this.#source.ended = true;
      else this.#source.push(chunk);
    } catch (error) {
      if (this.#source.ended) return;
      this.#failure = new TransportError(
        `Cannot read message: stream failed: ${messageOf(error)}`,
        { cause: error },
      );
    } finally {
      this.#filling = undefined;
    }
  }

  #drop(): void {
    this.#source.cancel();
    this.#unframer = undefined;
    this.#failure = undefined;
  }

  #detect(): void {
    const first = this.#source.firstByte();
    if (first !== undefined) this.#setFraming(detectFraming(first));
  }

  #setFraming(framing: Framing): void {
    this.#framing = framing;
    this.#unframer = framers[framing].unframer(this.#maxMessageBytes);
  }
}

/**
 * Reads a stream chunk by chunk: where it is one of bytes, such as a pipe, into
 * a buffer that is used again. That saves 64 KiB of garbage a read, and with it
 * a third of the time of a call.
 */
class ChunkReader {
  readonly #stream: ReadableStreamBYOBReader | ReadableStreamDefaultReader;
  #buffer = new Uint8Array(CHUNK_BYTES);

  constructor(stream: ReadableStream<Uint8Array>) {
    try {
      this.#stream = stream.getReader({ mode: "byob" });
    } catch {
      // It is no byte stream, or it is locked: then this throws too.
      this.#stream = stream.getReader();
    }
  }

  /** @param isDone Whether nobody looks at the last chunk any more. */
  async read(isDone: boolean): Promise<Uint8Array | undefined> {
    if (this.#stream instanceof ReadableStreamDefaultReader) {
      return (await this.#stream.read()).value;
    }
    const buffer = isDone ? this.#buffer : new Uint8Array(CHUNK_BYTES);
    const { done, value } = await this.#stream.read(buffer);
    if (done) return undefined;
    this.#buffer = new Uint8Array(value.buffer);
    return value;
  }

  cancel(): Promise<void> {
    return this.#stream.cancel();
  }
}

/** What a pipe holds on Linux. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Read the next message from a stream.
 *
 * Messages that are already buffered are served without waiting for another
 * read. Cost is linear in the bytes received.
 *
 * @param reader The reader that holds the stream and its buffer.
 * @returns The message, an object or an array, or `null` where the stream
 * ended between messages.
 * @throws {ProtocolError} If the body is not UTF-8 or not JSON (`-32700`), is
 * neither object nor array, or is longer than `maxMessageBytes` (`-32600`).
 * The reader stands at the next message: go on.
 * @throws {FramingError} If the header block is malformed or the stream ended
 * inside a message. The stream is lost.
 * @throws {TransportError} If the stream failed. It is lost.
 *
 * @example Read until the stream ends
 * ```ts
 * import { MessageReader, readMessage } from "@miniagent/mcp/framing";
 * import { assertEquals } from "@std/assert";
 *
 * const stream = new Blob(['{"jsonrpc":"2.0","method":"a"}\n']).stream();
 * const reader = new MessageReader(stream);
 *
 * assertEquals(await readMessage(reader), { jsonrpc: "2.0", method: "a" });
 * assertEquals(await readMessage(reader), null);
 * ```
 */
export async function readMessage(
  reader: MessageReader,
): Promise<object | null> {
  for (;;) {
    const message = reader.takeBuffered();
    if (message !== undefined) return message;
    await reader.fill();
  }
}

/**
 * Turn a message into the bytes of one frame.
 *
 * @param message The message.
 * @param framing The framing.
 * @returns The frame: `JSON.stringify` of the message in UTF-8, framed.
 * @throws {TypeError} If JSON cannot hold the message: a BigInt, a cycle.
 *
 * @example The length is in bytes, not in characters
 * ```ts
 * import { encodeMessage } from "@miniagent/mcp/framing";
 * import { assertEquals } from "@std/assert";
 *
 * const frame = encodeMessage({ es: "comió" }, "content-length");
 * assertEquals(
 *   new TextDecoder().decode(frame),
 *   'Content-Length: 15\r\n\r\n{"es":"comió"}',
 * );
 * ```
 */
export function encodeMessage(message: object, framing: Framing): Uint8Array {
  return encodeFrame(JSON.stringify(message), framing);
}

/**
 * Write one message to a stream.
 *
 * @param stream The stream, not locked. It stays open.
 * @param message The message.
 * @param options The framing, `"content-length"` if none is given.
 * @returns When the stream has taken the frame.
 * @throws {TransportError} If the stream failed: its reader went away.
 * @throws {TypeError} If the stream is locked, or JSON cannot hold the message:
 * a BigInt, a cycle.
 *
 * @example
 * ```ts
 * import { writeMessage } from "@miniagent/mcp/framing";
 * import { assertEquals } from "@std/assert";
 *
 * const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
 * const written = writeMessage(writable, { id: 1 }, { framing: "newline" });
 * const { value } = await readable.getReader().read();
 * await written;
 * assertEquals(new TextDecoder().decode(value), '{"id":1}\n');
 * ```
 */
export async function writeMessage(
  stream: WritableStream<Uint8Array>,
  message: object,
  options: FramingOptions = {},
): Promise<void> {
  const frame = encodeMessage(message, options.framing ?? "content-length");
  const writer = stream.getWriter();
  try {
    await writer.write(frame);
  } catch (error) {
    throw new TransportError(
      `Cannot write message: stream failed: ${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    writer.releaseLock();
  }
}

/**
 * Gathers messages and writes those that are ready together in one write.
 * {@linkcode writeMessage} is enough for one message at a time.
 *
 * @example
 * ```ts
 * import { MessageWriter } from "@miniagent/mcp/framing";
 * import { assertEquals } from "@std/assert";
 *
 * const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
 * const writer = new MessageWriter(writable, { framing: "newline" });
 * writer.append({ id: 1 });
 * writer.append({ id: 2 });
 * assertEquals(writer.unsentBytes, 18);
 *
 * const drained = writer.drained(0);
 * const { value } = await readable.getReader().read();
 * await drained;
 * assertEquals(new TextDecoder().decode(value), '{"id":1}\n{"id":2}\n');
 * ```
 */
export class MessageWriter {
  /** The framing of what is appended from now on. */
  framing: Framing;
  /** Settles when the stream fails, with what it said. Never rejects. */
  readonly failed: Promise<unknown>;

  readonly #stream: WritableStreamDefaultWriter<Uint8Array>;
  #ready: Uint8Array[] = [];
  #scratch = new Uint8Array(SCRATCH_BYTES);
  #scratchLength = 0;
  #unsentBytes = 0;
  #sending: Promise<void> | undefined;
  #broken = false;
  readonly #abandoned = Promise.withResolvers<void>();

  /**
   * Take a stream.
   *
   * @param stream Where the frames go. The writer locks it.
   * @param options The framing, `"content-length"` if none is given.
   * @throws {TypeError} If the stream is locked.
   */
  constructor(
    stream: WritableStream<Uint8Array>,
    options: FramingOptions = {},
  ) {
    this.framing = options.framing ?? "content-length";
    this.#stream = stream.getWriter();
    this.failed = this.#stream.closed.then(
      () => new Promise<never>(() => {}),
      (error) => {
        this.#broken = true;
        return error;
      },
    );
  }

  /** How many bytes the stream has not taken yet. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /**
   * Add a message to what {@linkcode MessageWriter.flush} will send.
   *
   * @param message The message.
   * @throws {TypeError} If JSON cannot hold the message. Nothing is added.
   */
  append(message: object): void {
    const json = JSON.stringify(message);
    if (json.length > MAX_SCRATCH_CHARACTERS) {
      this.#retire();
      const frame = encodeFrame(json, this.framing);
      this.#ready.push(frame);
      this.#unsentBytes += frame.length;
      return;
    }
    if (this.#scratchLength + maxFrameBytes(json) > SCRATCH_BYTES) {
      this.#retire();
    }
    const target = this.#scratch.subarray(this.#scratchLength);
    const length = framers[this.framing].encodeInto(json, target);
    this.#scratchLength += length;
    this.#unsentBytes += length;
  }

  /** Send what was appended, in one write if none is under way, after that one if one is. */
  flush(): void {
    if (this.#sending === undefined) this.#sendNext();
  }

  /**
   * Wait until the stream has taken enough, or has failed.
   *
   * @param bytes How many may be left, in bytes.
   */
  async drained(bytes: number): Promise<void> {
    while (!this.#broken && this.#unsentBytes > bytes) {
      this.flush();
      await Promise.race([this.#sending, this.#abandoned.promise]);
    }
  }

  /** Give up what the stream has not taken: its reader does not read. */
  abandon(): void {
    this.#broken = true;
    this.#abandoned.resolve();
  }

  /** Close the stream, after what was flushed. */
  async close(): Promise<void> {
    try {
      await this.#stream.close();
    } catch {
      // A stream that failed is closed already; `failed` has told.
    }
  }

  #sendNext(): void {
    this.#retire();
    const chunk = this.#ready.shift();
    if (chunk === undefined || this.#broken) {
      this.#sending = undefined;
      return;
    }
    this.#sending = this.#stream.write(chunk).then(
      () => {
        this.#unsentBytes -= chunk.length;
        this.#sendNext();
      },
      () => {
        this.#broken = true;
        this.#ready = [];
        this.#sending = undefined;
      },
    );
  }

  /** A stream may keep what it is given, so the scratch buffer is copied out. */
  #retire(): void {
    if (this.#scratchLength === 0) return;
    this.#ready.push(this.#scratch.slice(0, this.#scratchLength));
    this.#scratchLength = 0;
  }
}

/** The kept buffer of a {@linkcode MessageWriter}, and what goes past it. */
const SCRATCH_BYTES = 64 * 1024;
const MAX_SCRATCH_CHARACTERS = 16 * 1024;
