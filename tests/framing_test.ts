import {
  assert,
  assertEquals,
  assertLess,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  DEFAULT_MAX_MESSAGE_BYTES,
  type Framing,
  MessageReader,
  readMessage,
} from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { ProtocolError, TransportError } from "../protocol/errors.ts";
import { chunked, STREAM_TYPES } from "./_fixtures.ts";
import { frameIn, FRAMING_CASES, WRAPPINGS } from "./_framing_cases.ts";
import { randomCut, randomNumbers, randomStream } from "./_random_streams.ts";
import { expectedOutcomes, outcomesOf } from "./_reference_reader.ts";

/** The bytes of a string that has a character for each. */
function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** A stream that holds bytes and then neither goes on nor ends. */
function silentAfter(binary: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(bytesOf(binary)),
  });
}

const GONE = new Error("gone");

/** A stream that holds bytes and fails when asked for more. */
function failingAfter(binary: string): ReadableStream<Uint8Array> {
  return ReadableStream.from(function* (): Generator<Uint8Array> {
    yield bytesOf(binary);
    throw GONE;
  }());
}

/** Whole, byte by byte, and cut at each position; a long stream at 200 of them. */
function* cutsOf(bytes: Uint8Array): Generator<number[]> {
  yield [];
  yield [...bytes.keys()];
  const step = Math.ceil(bytes.length / 200);
  for (let at = 1; at < bytes.length; at += step) yield [at];
}

/** Each outcome must begin as it is expected. */
function assertOutcomes(
  actual: readonly string[],
  expected: readonly string[],
  where: string,
): void {
  const begun = actual.map((line, i) => {
    const beginning = expected[i];
    const agrees = beginning !== undefined && line.startsWith(beginning);
    return agrees ? beginning : line;
  });
  assertEquals(begun, [...expected], where);
}

for (const framing of FRAMINGS) {
  for (const { does, input, gives, max = 100_000, skip } of FRAMING_CASES) {
    if (skip?.[framing] !== undefined) continue;
    Deno.test(`readMessage() ${does} (${framing})`, async () => {
      const bytes = bytesOf(input(frameIn(framing)));
      for (const cut of cutsOf(bytes)) {
        for (const type of STREAM_TYPES) {
          const options = { framing, maxMessageBytes: max };
          const reader = new MessageReader(chunked(bytes, cut, type), options);
          const places = cut.length === 1 ? `at ${cut}` : `${cut.length} times`;
          const where = `cut ${places}, type ${type}`;
          assertOutcomes(await outcomesOf(reader), gives, where);
        }
      }
    });
  }
}

for (const framing of FRAMINGS) {
  Deno.test(`readMessage() agrees with the reference reader on random streams of ${framing}`, async () => {
    const random = randomNumbers(42);
    for (let i = 0; i < 3000; i++) {
      const bytes = bytesOf(randomStream(random, framing));
      const cut = randomCut(random, bytes.length);
      const maxMessageBytes = 1 + Math.floor(random() * 40);
      for (const known of [framing, undefined]) {
        for (const type of STREAM_TYPES) {
          const reader = new MessageReader(chunked(bytes, cut, type), {
            framing: known,
            maxMessageBytes,
          });
          assertOutcomes(
            await outcomesOf(reader),
            expectedOutcomes(bytes, maxMessageBytes, known),
            `stream ${i}, framing ${known}, limit ${maxMessageBytes}, type ${type}`,
          );
        }
      }
    }
  });
}

const BOM = "\xef\xbb\xbf";
const DETECTED: [stream: string, framing: Framing | undefined][] = [
  ["{", "newline"],
  ["[", "newline"],
  ["\r\n \t{", "newline"],
  [`${BOM}{`, "newline"],
  [` ${BOM}\n${BOM}[`, "newline"],
  ["C", "content-length"],
  ["\r\n\tX-Trace: {", "content-length"],
  [`${BOM}C`, "content-length"],
  ["5\n", "content-length"],
  ["\0{", "content-length"],
  ["\xef\xbb{", "content-length"],
  ["\xef\xbb", "content-length"],
  ["", undefined],
  [`\r\n${BOM} `, undefined],
];

for (const [stream, framing] of DETECTED) {
  const shown = JSON.stringify(stream);
  Deno.test(`MessageReader.framing is ${framing} after ${shown}`, async () => {
    for (const cut of cutsOf(bytesOf(stream))) {
      const reader = new MessageReader(chunked(bytesOf(stream), cut));
      await outcomesOf(reader);
      assertEquals(reader.framing, framing);
    }
  });
}

Deno.test("MessageReader.framing is known from the first byte", async () => {
  const reader = new MessageReader(silentAfter("{"));
  assertEquals(reader.framing, undefined);
  await reader.fill();
  assertEquals(reader.takeBuffered(), undefined);
  assertEquals(reader.framing, "newline");
  await reader.cancel();
});

Deno.test("MessageReader.framing is not detected where it was given", async () => {
  const stream = chunked(bytesOf("{}\n\n"), []);
  const reader = new MessageReader(stream, { framing: "content-length" });
  await outcomesOf(reader);
  assertEquals(reader.framing, "content-length");
});

for (const framing of FRAMINGS) {
  const frame = frameIn(framing);

  Deno.test(`readMessage() serves what is buffered without another read (${framing})`, async () => {
    const stream = failingAfter(frame("{}").repeat(3));
    assertEquals(await outcomesOf(new MessageReader(stream)), [
      "{}",
      "{}",
      "{}",
      "TransportError Cannot read message: stream failed: gone",
    ]);
  });

  Deno.test(`readMessage() rejects where the stream fails inside a message (${framing})`, async () => {
    const reader = new MessageReader(failingAfter(frame("{}").slice(0, -1)));
    const error = await assertRejects(
      () => readMessage(reader),
      TransportError,
      "Cannot read message: stream failed: gone",
    );
    assertStrictEquals(error.cause, GONE);
    assertEquals(await readMessage(reader), null);
  });

  Deno.test(`readMessage() waits for no byte after a message (${framing})`, async () => {
    const reader = new MessageReader(silentAfter(frame("{}")));
    assertEquals(await readMessage(reader), {});
    await reader.cancel();
  });

  Deno.test(`readMessage() gives two callers a message each, in order (${framing})`, async () => {
    const bytes = bytesOf(frame("[1]") + frame("[2]"));
    const reader = new MessageReader(chunked(bytes, bytes.keys()));
    const both = [readMessage(reader), readMessage(reader)];
    assertEquals(await Promise.all(both), [[1], [2]]);
  });

  Deno.test(`readMessage() takes 100,000 nested arrays (${framing})`, async () => {
    const body = "[".repeat(100_000) + "]".repeat(100_000);
    const reader = new MessageReader(chunked(bytesOf(frame(body)), []));
    assert(Array.isArray(await readMessage(reader)));
  });

  Deno.test(`readMessage() holds no more than maxMessageBytes of 1 GiB (${framing})`, async () => {
    const size = 1024 * 1024 * 1024;
    const before = heldBytes();
    let most = 0;
    const stream = ReadableStream.from(function* (): Generator<Uint8Array> {
      yield bytesOf(WRAPPINGS[framing].before(size));
      for (let sent = 0; sent < size; sent += 64 * 1024) {
        yield new Uint8Array(64 * 1024).fill(0x78);
        most = Math.max(most, heldBytes());
      }
    }());
    const reader = new MessageReader(stream, {
      framing,
      maxMessageBytes: 1024 * 1024,
    });
    assertEquals(await outcomesOf(reader), [
      `-32600 Cannot read message: length is ${size} bytes, ` +
      "limit is 1048576 bytes",
    ]);
    // Garbage that V8 lets lie counts too, but is far from half of this.
    assertLess(most - before, size / 2);
  });
}

const LINE = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const COSTLY: [what: string, stream: () => string, chunkBytes: number][] = [
  ["100,000 lines in one chunk", () => LINE.repeat(100_000), Infinity],
  [
    "100,000 frames in one chunk",
    () => frameIn("content-length")(LINE).repeat(100_000),
    Infinity,
  ],
  [
    "100,000 lines in one chunk that is not UTF-8 throughout",
    () => `${LINE.repeat(100_000)}\xff\n`,
    Infinity,
  ],
  [
    "20,000 lines that begin as a byte order mark does",
    () => `{}\n${"\xef\n".repeat(20_000)}${LINE.repeat(20_000)}`,
    Infinity,
  ],
  ["a line in bytes", () => `["${"x".repeat(65_000)}"]`, 1],
  ["a line in many chunks", () => `["${"x".repeat(8_000_000)}"]`, 512],
  [
    "a frame in many chunks",
    () => frameIn("content-length")(`["${"x".repeat(8_000_000)}"]`),
    512,
  ],
];

for (const [what, stream, chunkBytes] of COSTLY) {
  Deno.test(`readMessage() takes ${what} in linear time`, async () => {
    const bytes = bytesOf(stream());
    const cut: number[] = [];
    for (let at = chunkBytes; at < bytes.length; at += chunkBytes) cut.push(at);
    const reader = new MessageReader(chunked(bytes, cut));
    const start = performance.now();
    await outcomesOf(reader);
    // A tenth of a second or so; where the cost is quadratic, many seconds.
    assertLess(performance.now() - start, 5000);
  });
}

/** What this isolate holds, whatever tests run beside it. */
function heldBytes(): number {
  const { external, heapUsed } = Deno.memoryUsage();
  return external + heapUsed;
}

Deno.test("readMessage() refuses 10^14 announced bytes at once", async () => {
  for (const maxMessageBytes of [undefined, Number.MAX_SAFE_INTEGER]) {
    const stream = silentAfter("Content-Length: 100000000000000\r\n\r\n");
    const reader = new MessageReader(stream, { maxMessageBytes });
    const error = await assertRejects(
      () => readMessage(reader),
      ProtocolError,
      "length is 100000000000000 bytes, limit is " +
        `${maxMessageBytes ? 2 ** 29 - 24 : DEFAULT_MAX_MESSAGE_BYTES} bytes`,
    );
    assertEquals(error.code, -32600);
    await reader.cancel();
  }
});

for (const max of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
  Deno.test(`MessageReader refuses a maxMessageBytes of ${max}`, () => {
    assertThrows(
      () => new MessageReader(silentAfter(""), { maxMessageBytes: max }),
      RangeError,
      `maxMessageBytes is ${max}, expected a whole number, at least 1`,
    );
  });
}

Deno.test("MessageReader.takeBuffered() takes what has come, without reading", async () => {
  const reader = new MessageReader(chunked(bytesOf("[1]\n[2]\n[3"), []));
  assertEquals(reader.takeBuffered(), undefined);
  await reader.fill();
  assertEquals(reader.takeBuffered(), [1]);
  assertEquals(reader.takeBuffered(), [2]);
  assertEquals(reader.takeBuffered(), undefined);
  await reader.fill();
  assertThrows(() => reader.takeBuffered(), ProtocolError, "not JSON");
  assertEquals(reader.takeBuffered(), null);
});

Deno.test("MessageReader.fill() gives the same promise while a read is under way", async () => {
  const reader = new MessageReader(chunked(bytesOf("{}\n"), []));
  const filled = reader.fill();
  assertStrictEquals(reader.fill(), filled);
  await filled;
  assertEquals(reader.bufferedBytes, 3);
});

Deno.test("MessageReader.fill() reads on while messages wait", async () => {
  const bytes = bytesOf("[1]\n[2]\n");
  const reader = new MessageReader(chunked(bytes, [0, 1, 1, 2, 3, 4, 4, 5]));
  while (!reader.ended) await reader.fill();
  assertEquals(reader.bufferedBytes, 8);
  assertEquals(await outcomesOf(reader), ["[1]", "[2]"]);
  assertEquals(reader.bufferedBytes, 0);
});

Deno.test("MessageReader.ended tells that the stream failed, before the error is taken", async () => {
  const reader = new MessageReader(failingAfter("{}\n"));
  await reader.fill();
  assertEquals(reader.ended, false);
  await reader.fill();
  assertEquals(reader.ended, true);
  assertEquals(reader.takeBuffered(), {});
  assertThrows(() => reader.takeBuffered(), TransportError, "gone");
});

Deno.test("MessageReader.cancel() ends a waiting read as a clean end does", async () => {
  const reader = new MessageReader(silentAfter('{"a'));
  const message = readMessage(reader);
  await reader.fill();
  await reader.cancel();
  assertEquals(await message, null);
  assertEquals(await readMessage(reader), null);
});

Deno.test("MessageReader.cancel() drops what is buffered or on its way", async () => {
  const reader = new MessageReader(chunked(bytesOf("{}\n{}\n"), [3]));
  await reader.fill();
  const filled = reader.fill();
  const cancelled = reader.cancel();
  await Promise.all([filled, cancelled]);
  assertEquals(reader.bufferedBytes, 0);
  assertEquals(await readMessage(reader), null);
});

Deno.test("MessageReader.cancel() ends a read that fails just then as a clean end does", async () => {
  let fail = (): void => {};
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => void (fail = () => controller.error(GONE)),
  });
  const reader = new MessageReader(stream);
  const filled = reader.fill();
  fail();
  await Promise.all([filled, reader.cancel()]);
  assertEquals(await readMessage(reader), null);
});

Deno.test("MessageReader.cancel() is quiet about a stream that failed", async () => {
  const reader = new MessageReader(failingAfter(""));
  await reader.fill();
  await reader.fill();
  await reader.cancel();
  assertEquals(await readMessage(reader), null);
});
