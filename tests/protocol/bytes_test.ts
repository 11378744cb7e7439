import {
  assertEquals,
  assertLess,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { GatheredText, Pieces, Source } from "../../protocol/_bytes.ts";

/** A source into which chunks were put, a character for each byte. */
function sourceOf(...chunks: string[]): Source {
  const source = new Source();
  for (const chunk of chunks) source.push(bytesOf(chunk));
  return source;
}

function bytesOf(binary: string): Uint8Array {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Everything that is left in a source. */
function rest(source: Source): string {
  let text = "";
  while (source.more()) {
    text += String.fromCharCode(...source.takeAtMost(Infinity));
  }
  return text;
}

Deno.test("Source gives bytes in the order in which they came", () => {
  const source = sourceOf("ab", "", "", "c", "");
  source.push(bytesOf("d"));
  assertEquals(source.waitingBytes, 4);
  assertEquals(rest(source), "abcd");
  assertEquals(source.waitingBytes, 0);
});

Deno.test("Source.more() is false where only empty chunks have come", () => {
  assertEquals(sourceOf().more(), false);
  assertEquals(sourceOf("", "").more(), false);
});

Deno.test("Source.takeAtMost() stops at the limit and at the end of the chunk", () => {
  const source = sourceOf("abc", "d");
  assertEquals(source.takeAtMost(2), bytesOf("ab"));
  assertEquals(source.takeAtMost(2), bytesOf("c"));
  assertEquals(source.takeAtMost(2), bytesOf(""));
});

Deno.test("Source.cancel() drops what has come and what still comes", () => {
  const source = sourceOf("abc", "d");
  source.cancel();
  source.push(bytesOf("e"));
  assertEquals([source.waitingBytes, source.ended], [0, true]);
  assertEquals(source.firstByte(), undefined);
});

const BOM = "\xef\xbb\xbf";
const FIRST_BYTES: [what: string, chunks: string[], left: string][] = [
  ["nothing", [], ""],
  ["blanks only", [" \t", "\r\n"], ""],
  ["a mark only", [BOM, "\xef", "\xbb\xbf"], ""],
  ["blanks and marks", [` ${BOM}\r`, `\n${BOM}${BOM}\tx y`], "x y"],
  ["a mark in three chunks", ["\xef", "\xbb", "\xbfx"], "x"],
  ["a part of a mark", ["\xefx"], "\xefx"],
  ["a part of a mark in two chunks", [" \xef", "\xbbx"], "\xef\xbbx"],
  ["a part of a mark that begins a chunk", [" ", "\xef\xbb", " "], "\xef\xbb "],
  ["half a mark, then a mark", [`\xef${BOM}`], `\xef${BOM}`],
  ["a blank in a mark", ["\xef\xbb", " \xbf"], "\xef\xbb \xbf"],
  ["no-break space", ["\xc2\xa0"], "\xc2\xa0"],
];

for (const [what, chunks, left] of FIRST_BYTES) {
  Deno.test(`Source.firstByte() steps over blanks and marks, given ${what}`, () => {
    const source = sourceOf(...chunks);
    const first = left === "" ? undefined : left.charCodeAt(0);
    assertEquals(source.firstByte(), first);
    assertEquals(source.firstByte(), first, "asked again");
    assertEquals(rest(source), left);
  });
}

Deno.test("Source.firstByte() waits while a mark has only begun, and gives it back at the end", () => {
  const source = sourceOf(" \xef\xbb");
  assertEquals(source.firstByte(), undefined);
  source.ended = true;
  assertEquals(source.firstByte(), 0xef);
  assertEquals(source.firstByte(), 0xef, "asked again");
  assertEquals(rest(source), "\xef\xbb");
});

Deno.test("Source.firstByte() copies no chunk to give back what only looked like a mark", () => {
  const source = sourceOf(" \xef\xbbx");
  const { chunk } = source;
  assertEquals(source.firstByte(), 0xef);
  assertStrictEquals(source.chunk, chunk);
});

Deno.test("Pieces.shift() gives all bytes in order", () => {
  const sizes = [1, 0, 2000, 3, 70_000, 5, 1024, 1023, 40_000];
  const chunks = sizes.map((size, i) => new Uint8Array(size).fill(i));
  const pieces = new Pieces();
  for (const chunk of chunks) pieces.add(chunk);
  const given = chunks.flatMap((chunk) => [...chunk]);
  assertEquals(pieces.length, given.length);

  const shifted: number[] = [];
  for (let piece; (piece = pieces.shift()) !== undefined;) {
    shifted.push(...piece);
  }
  assertEquals(shifted, given);
  assertEquals(pieces.length, 0);
});

Deno.test("Pieces hold copies, so that what was added may be written over", () => {
  for (const size of [1, 100, 70_000]) {
    const pieces = new Pieces();
    const chunk = new Uint8Array(size).fill(7);
    pieces.add(chunk);
    chunk.fill(0);
    assertEquals(pieces.shift(), new Uint8Array(size).fill(7));
  }
});

const TEXTS: [what: string, text: string][] = [
  ["short", "comió 漢🎉"],
  ["of one block", "x".repeat(65_536)],
  ["of many blocks", "comió 漢🎉".repeat(20_000)],
];
for (const [what, text] of TEXTS) {
  for (const size of [1, 3, 1000, 40_000, 65_536, 100_000]) {
    Deno.test(`GatheredText.take() gives a text ${what} that came in pieces of ${size} bytes`, () => {
      const gathered = new GatheredText();
      const bytes = new TextEncoder().encode(text);
      // Twice: the first must leave nothing behind.
      for (let round = 0; round < 2; round++) {
        for (let at = 0; at < bytes.length; at += size) {
          const piece = bytes.slice(at, at + size);
          gathered.add(piece);
          piece.fill(0);
        }
        assertEquals(gathered.take() === text, true);
      }
    });
  }
}

Deno.test("GatheredText.take() throws where a byte is not UTF-8, and begins anew", () => {
  const whole = new TextEncoder().encode("é".repeat(100_000));
  for (const at of [0, 1, 65_535, 65_536, 100_001, whole.length - 1]) {
    const bytes = whole.slice();
    bytes[at] = 0xff;
    const gathered = new GatheredText();
    for (const size of [1000, 50_000]) {
      for (let from = 0; from < bytes.length; from += size) {
        gathered.add(bytes.subarray(from, from + size));
      }
      assertThrows(() => gathered.take(), TypeError);
      gathered.add(new TextEncoder().encode("é"));
      assertEquals(gathered.take(), "é");
    }
  }
});

Deno.test("GatheredText.clear() forgets half a character", () => {
  const gathered = new GatheredText();
  gathered.add(new Uint8Array(70_000).fill(0x78));
  gathered.add(new Uint8Array([0xc3]));
  gathered.clear();
  gathered.add(new Uint8Array([0x78]));
  assertEquals(gathered.take(), "x");
});

const KEPT: [what: string, chunk: () => Uint8Array][] = [
  ["of one byte, each in its own buffer", () => new Uint8Array(1)],
  ["of one byte in 64 KiB", () => new Uint8Array(65_536).subarray(0, 1)],
  ["of 4 KiB in 64 KiB", () => new Uint8Array(65_536).subarray(0, 4096)],
  ["of 64 KiB, whole", () => new Uint8Array(65_536)],
  ["of 33 KiB in 64 KiB", () => new Uint8Array(65_536).subarray(0, 33_792)],
  ["of 31 KiB in 64 KiB", () => new Uint8Array(65_536).subarray(0, 31_744)],
];

for (const [what, chunk] of KEPT) {
  Deno.test(`Pieces holds little more than it was given in chunks ${what}`, () => {
    const pieces = new Pieces();
    const count = 1 + Math.floor(300_000 / chunk().length);
    for (let i = 0; i < count; i++) pieces.add(chunk());
    const { length } = pieces;
    let [held, kept] = [0, 0];
    for (let piece; (piece = pieces.shift()) !== undefined; kept++) {
      held += piece.buffer.byteLength;
    }
    assertLess(held, length * 2.2);
    assertLess(kept, 50);
  });
}
