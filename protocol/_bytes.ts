/**
 * Bytes that have come and wait to be taken. What they mean is left to
 * `_framers.ts`.
 *
 * @module
 */

const BOM = new Uint8Array([0xef, 0xbb, 0xbf]);
const EMPTY: Uint8Array = new Uint8Array(0);

/** The bytes that have come and were not taken yet. */
export class Source {
  /** The chunk under the cursor, and the cursor. */
  chunk: Uint8Array = EMPTY;
  at = 0;
  ended = false;
  #next = new Pieces();
  /** How many bytes of a byte order mark were just passed over. */
  #markBytes = 0;

  get waitingBytes(): number {
    return this.chunk.length - this.at + this.#next.length;
  }

  push(chunk: Uint8Array): void {
    if (this.ended) return;
    if (this.waitingBytes > 0) {
      this.#next.add(chunk);
    } else {
      this.chunk = chunk;
      this.at = 0;
    }
  }

  /** Let go of the chunk unless bytes of it wait; tells whether none do. */
  letGo(): boolean {
    if (this.waitingBytes > 0) return false;
    this.chunk = EMPTY;
    this.at = 0;
    return true;
  }

  cancel(): void {
    this.chunk = EMPTY;
    this.at = 0;
    this.#next = new Pieces();
    this.#markBytes = 0;
    this.ended = true;
  }

  /** Whether a byte stands under the cursor. */
  more(): boolean {
    if (this.at < this.chunk.length) return true;
    this.chunk = this.#next.shift() ?? EMPTY;
    this.at = 0;
    return this.chunk.length > 0;
  }

  /** Bytes up to the end of the chunk, `limit` at most. */
  takeAtMost(limit: number): Uint8Array {
    const end = Math.min(this.chunk.length, this.at + limit);
    const bytes = this.chunk.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  /** Step over blanks and byte order marks (RFC 8259 §8.1); `undefined` if no other byte has come. */
  firstByte(): number | undefined {
    while (this.more()) {
      const byte = this.chunk[this.at];
      if (byte === BOM[this.#markBytes]) {
        this.#markBytes = (this.#markBytes + 1) % BOM.length;
      } else if (this.#markBytes > 0) {
        return this.#unreadMark();
      } else if (
        byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a
      ) {
        return byte;
      }
      this.at++;
    }
    return this.ended && this.#markBytes > 0 ? this.#unreadMark() : undefined;
  }

  /** What looked like a byte order mark was the beginning of something else: step back. */
  #unreadMark(): number | undefined {
    const count = this.#markBytes;
    this.#markBytes = 0;
    if (this.at >= count) {
      this.at -= count;
    } else {
      const rest = this.chunk.subarray(this.at);
      this.chunk = new Uint8Array(count + rest.length);
      this.chunk.set(BOM.subarray(0, count));
      this.chunk.set(rest, count);
      this.at = 0;
    }
    return this.chunk[this.at];
  }
}

/** Bytes in pieces, copied from where they came: a reader fills its buffer again. */
export class Pieces {
  length = 0;
  #pieces: Uint8Array[] = [];
  #tail = EMPTY;
  #tailLength = 0;

  add(bytes: Uint8Array): void {
    if (bytes.length > this.#tail.length - this.#tailLength) {
      this.#sealTail();
      const room = Math.min(Math.max(this.length, SMALL_BLOCK), LARGE_BLOCK);
      this.#tail = new Uint8Array(Math.max(room, bytes.length));
    }
    this.length += bytes.length;
    this.#tail.set(bytes, this.#tailLength);
    this.#tailLength += bytes.length;
  }

  shift(): Uint8Array | undefined {
    if (this.length === 0) return undefined;
    this.#sealTail();
    const piece = this.#pieces.shift();
    // Not reached: a length over 0 means a piece.
    this.length -= piece?.length ?? 0;
    return piece;
  }

  #sealTail(): void {
    if (this.#tailLength === 0) return;
    this.#pieces.push(this.#tail.subarray(0, this.#tailLength));
    this.#tail = EMPTY;
    this.#tailLength = 0;
  }
}

/** The least is what an array and its buffer weigh, about four times. */
const SMALL_BLOCK = 1024;
const LARGE_BLOCK = 1024 * 1024;

/**
 * The text of a message that comes in pieces. Its bytes are decoded block by
 * block: a message as long as the memory allows is there as text only.
 */
export class GatheredText {
  #text = "";
  #block = EMPTY;
  #blockLength = 0;
  #decoder: TextDecoder | undefined;
  #fault: unknown;

  add(bytes: Uint8Array): void {
    if (this.#blockLength + bytes.length > BLOCK_BYTES) {
      this.#decode(this.#block.subarray(0, this.#blockLength));
      this.#blockLength = 0;
      if (bytes.length > BLOCK_BYTES / 2) return this.#decode(bytes);
    }
    if (this.#block.length === 0) this.#block = new Uint8Array(BLOCK_BYTES);
    this.#block.set(bytes, this.#blockLength);
    this.#blockLength += bytes.length;
  }

  /**
   * The whole text. The next message begins.
   *
   * @throws {TypeError} If the bytes are not UTF-8.
   */
  take(): string {
    this.#decode(this.#block.subarray(0, this.#blockLength), false);
    const text = this.#text;
    const fault = this.#fault;
    this.clear();
    if (fault !== undefined) throw fault;
    return text;
  }

  /** Forget what was added. */
  clear(): void {
    this.#blockLength = 0;
    this.#text = "";
    this.#decoder = this.#fault = undefined;
  }

  #decode(bytes: Uint8Array, stream = true): void {
    if (this.#fault !== undefined) return;
    if (stream) this.#decoder ??= new TextDecoder("utf-8", { fatal: true });
    try {
      this.#text += (this.#decoder ?? decoder).decode(bytes, { stream });
    } catch (error) {
      this.#fault = error;
      this.#text = "";
    }
  }
}

/** For what is decoded at once. */
const decoder = new TextDecoder("utf-8", { fatal: true });
/** Few enough to lie in the processor's cache: decoded so, a long text takes two thirds of the time. */
const BLOCK_BYTES = 64 * 1024;
