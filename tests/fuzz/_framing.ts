/**
 * Properties of `framing.ts`: whatever the bytes and the chunks.
 *
 * @module
 */

import fc from "npm:fast-check@4.11.0";
import { assert, assertEquals, assertLess } from "@std/assert";
import {
  encodeMessage,
  type Framing,
  MessageReader,
  MessageWriter,
} from "../../framing.ts";
import { FRAMINGS } from "../../protocol/_framers.ts";
import { chunked, STREAM_TYPES } from "../_fixtures.ts";
import { WRAPPINGS } from "../_framing_cases.ts";
import { expectedOutcomes, outcomesOf } from "../_reference_reader.ts";
import { cuts, positions, type Property, property } from "./_property.ts";

const framings = fc.constantFrom(...FRAMINGS);

/** JSON text of an object or an array. */
const messageTexts: fc.Arbitrary<string> = fc.tuple(
  fc.json({ maxDepth: 3, stringUnit: "binary" }),
  fc.constantFrom("[#]", '{"a":#}', '{ "é漢🎉" :\t# }'),
).map(([json, around]) => around.replace("#", () => json));

/** What may stand before a message, and what around a body. */
const gaps = fc.string({
  unit: fc.constantFrom(" ", "\t", "\r", "\n", "\r\n", "\ufeff"),
  maxLength: 4,
});
const spaces = fc.string({ unit: fc.constantFrom(" ", "\t"), maxLength: 3 });

/** Header names as people write them. */
const lengthNames = fc.constantFrom(
  "Content-Length",
  "content-length",
  "CONTENT-LENGTH",
  "Content-length \t",
);
const otherHeaders = fc.constantFrom(
  "",
  "Content-Type: application/vscode-jsonrpc; charset=utf-8",
  "X-Trace: a:b:c",
  "__proto__: 1",
  "constructor:",
  "no colon",
);
const lineEnds = fc.constantFrom("\r\n", "\n");

/** A frame with all the padding that the contract tolerates. */
const paddedFrames: Record<
  Framing,
  fc.Arbitrary<[frame: string, json: string]>
> = {
  "newline": fc.tuple(gaps, messageTexts, spaces, lineEnds)
    .map(([gap, json, space, end]) => [gap + json + space + end, json]),
  "content-length": fc.tuple(
    fc.tuple(gaps, gaps, messageTexts, spaces),
    fc.tuple(otherHeaders, lengthNames, spaces, fc.nat({ max: 3 }), spaces),
    fc.tuple(otherHeaders, fc.boolean(), lineEnds, lineEnds),
  ).map(([[gap, pad, json, space], [first, name, before, zeros, after], [
    last,
    twice,
    end,
    finalEnd,
  ]]) => {
    const body = pad + json + space;
    const size = new TextEncoder().encode(body).length;
    const header = `${name}:${before}${"0".repeat(zeros)}${size}${after}`;
    const lines = [first, header, twice ? header : "", last]
      .filter((line) => line !== "");
    return [gap + lines.join(end) + end + finalEnd + body, json];
  }),
};

const streamTypes = fc.constantFrom(...STREAM_TYPES);

const roundTrip = property(
  "readMessage() gives what was written, whatever the framing, the padding and the chunks",
  150,
  fc.asyncProperty(
    framings.chain((framing) =>
      fc.tuple(
        fc.constantFrom(framing, undefined),
        fc.array(paddedFrames[framing], { maxLength: 8 }),
      )
    ),
    cuts,
    streamTypes,
    async ([framing, frames], cut, type) => {
      const text = frames.map(([frame]) => frame).join("");
      const bytes = new TextEncoder().encode(text);
      const reader = new MessageReader(
        chunked(bytes, positions(cut, bytes.length), type),
        { framing },
      );
      assertEquals(
        await outcomesOf(reader),
        frames.map(([, json]) => JSON.stringify(JSON.parse(json))),
      );
    },
  ),
);

/** Pieces of streams, a character for each byte. */
const pieces = fc.oneof(
  fc.constantFrom(
    ...["{}\n", "[1]\r\n", "\xef\xbb\xbf", "\xef", "\xef\xbb", "\r", "\n", " "],
    ...["{", "]", '"', "\0", "\xff", "5\n", "null\n", "\n\n", "X: y\r\n"],
    ...["Content-Length: 2\r\n\r\n{}", "content-length:3\n\n[1]", "\r\n\r\n"],
    ...["Content-Length: 99\r\n\r\n", "Content-Length: 0\r\n\r\n", "-1", "é"],
    ...["Content-Length: ", "Content-Length: 2\r\nContent-Length: 2\r\n"],
    ...[`${"x".repeat(100)}\n`, "9".repeat(16), "x".repeat(9000)],
    ...["\xc3\xa9".repeat(40_000), "Content-Length: 70000\r\n\r\n"],
  ),
  fc.string({
    unit: fc.nat({ max: 255 }).map((byte) => String.fromCharCode(byte)),
    maxLength: 20,
  }),
);

const anyStream = fc.array(pieces, { maxLength: 12 }).map((parts) =>
  Uint8Array.from(parts.join(""), (character) => character.charCodeAt(0))
);

/** As `outcomesOf`, but some chunks are read before they are needed, as the server does. */
async function readAhead(reader: MessageReader, ahead: number): Promise<void> {
  for (let i = 0; i < ahead && !reader.ended; i++) await reader.fill();
}

const model = property(
  "readMessage() agrees with the reference reader on any bytes, in any chunks, under any limit",
  400,
  fc.asyncProperty(
    anyStream,
    cuts,
    fc.constantFrom(...FRAMINGS, undefined),
    fc.constantFrom(1, 2, 3, 8, 20, 60, 100_000),
    fc.constantFrom(0, 1, 5, 1000),
    streamTypes,
    async (bytes, cut, framing, maxMessageBytes, ahead, type) => {
      const reader = new MessageReader(
        chunked(bytes, positions(cut, bytes.length), type),
        { framing, maxMessageBytes },
      );
      await readAhead(reader, ahead);
      const outcomes = await outcomesOf(reader);
      const expected = expectedOutcomes(bytes, maxMessageBytes, framing);
      assertEquals(outcomes.length, expected.length, String(outcomes));
      outcomes.forEach((outcome, i) =>
        assert(
          outcome.startsWith(expected[i] ?? "?"),
          `${outcome}, expected ${expected[i]}`,
        )
      );
      assertEquals(reader.bufferedBytes, 0);
    },
  ),
);

const MEBIBYTE = 1024 * 1024;

/** What this isolate holds, whatever runs beside it. */
function heldBytes(): number {
  const { external, heapUsed } = Deno.memoryUsage();
  return external + heapUsed;
}

const memory = property(
  "readMessage() holds maxMessageBytes and a constant of a message of any length",
  6,
  fc.asyncProperty(
    framings,
    fc.constantFrom(16, 32, 64).map((kibi) => kibi * 1024),
    fc.constantFrom(1, 1000, 300_000),
    fc.nat({ max: 255 }).filter((byte) => byte !== 10),
    async (framing, chunkBytes, maxMessageBytes, byte) => {
      const size = 32 * MEBIBYTE;
      const chunk = new Uint8Array(chunkBytes).fill(byte);
      const before = heldBytes();
      let most = 0;
      const stream = ReadableStream.from(function* (): Generator<Uint8Array> {
        const start = WRAPPINGS[framing].before(size + 1);
        yield new TextEncoder().encode(`${start}x`);
        for (let sent = 0; sent < size; sent += chunkBytes) {
          yield chunk;
          most = Math.max(most, heldBytes());
        }
      }());
      const reader = new MessageReader(stream, { framing, maxMessageBytes });
      const outcomes = await outcomesOf(reader);
      assertEquals(outcomes.length, 1);
      assert(outcomes[0]?.startsWith("-32600 "), outcomes[0]);
      assertLess(most - before, maxMessageBytes + 16 * MEBIBYTE);
    },
  ),
);

const writer = property(
  "MessageWriter writes the frames in order, whenever it is flushed",
  80,
  fc.asyncProperty(
    framings,
    fc.array(
      fc.tuple(
        messageTexts,
        fc.constantFrom(0, 1, 6000, 20_000, 70_000),
        fc.boolean(),
      ),
      { maxLength: 10 },
    ),
    async (framing, steps) => {
      const written: number[] = [];
      const stream = new WritableStream<Uint8Array>({
        write: async (chunk) => {
          await Promise.resolve();
          for (const byte of chunk) written.push(byte);
        },
      });
      const writer = new MessageWriter(stream, { framing });
      const expected: number[] = [];
      for (const [json, padding, flush] of steps) {
        const message = [JSON.parse(json), "é".repeat(padding)];
        for (const byte of encodeMessage(message, framing)) expected.push(byte);
        writer.append(message);
        if (flush) writer.flush();
        await Promise.resolve();
      }
      assertEquals(
        written.length + writer.unsentBytes >= expected.length,
        true,
      );
      await writer.drained(0);
      await writer.close();
      assertEquals(written.length, expected.length);
      assert(written.every((byte, i) => byte === expected[i]));
    },
  ),
);

/** All of them. */
export const framingProperties: readonly Property[] = [
  roundTrip,
  model,
  memory,
  writer,
];
