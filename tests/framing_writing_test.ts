import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  encodeMessage,
  MessageReader,
  MessageWriter,
  writeMessage,
} from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { TransportError } from "../protocol/errors.ts";
import { outcomesOf } from "./_reference_reader.ts";

const GONE = new Error("gone");

/** A stream that keeps what it is given, write by write, and takes it when it is let. */
class Sink {
  readonly writes: Uint8Array[] = [];
  readonly stream: WritableStream<Uint8Array>;
  closed = false;

  constructor(taken: () => Promise<void> | void = () => {}) {
    this.stream = new WritableStream({
      write: (chunk) => {
        this.writes.push(chunk);
        return taken();
      },
      close: () => {
        this.closed = true;
      },
    });
  }

  get text(): string {
    const decoder = new TextDecoder();
    return this.writes
      .map((chunk) => decoder.decode(chunk, { stream: true })).join("");
  }
}

const ENCODED: [message: object, json: string][] = [
  [{ es: "comió", "漢": "🎉" }, '{"es":"comió","漢":"🎉"}'],
  [{ a: "\n\r\0" }, String.raw`{"a":"\n\r\u0000"}`],
  [["\u2028\u2029\x7f\ufeff"], '["\u2028\u2029\x7f\ufeff"]'],
  [["\ud83c\udf89", "\ud83d"], String.raw`["🎉","\ud83d"]`],
  [[1e21, NaN, undefined, { a: undefined }], "[1e+21,null,null,{}]"],
];

for (const [message, json] of ENCODED) {
  Deno.test(`encodeMessage() gives ${json} as raw UTF-8, framed`, () => {
    const body = new TextEncoder().encode(json);
    const header = new TextEncoder().encode(
      `Content-Length: ${body.length}\r\n\r\n`,
    );
    assertEquals(
      encodeMessage(message, "content-length"),
      Uint8Array.of(...header, ...body),
    );
    assertEquals(encodeMessage(message, "newline"), Uint8Array.of(...body, 10));
  });
}

/** Messages whose length has more digits in bytes than in characters, and their neighbors. */
function* bordersOf(digits: number): Generator<object> {
  for (const accents of [0, 1, 2]) {
    for (let bytes = 10 ** digits - 2; bytes <= 10 ** digits + 2; bytes++) {
      const letters = bytes - accents * 2 - '[""]'.length;
      if (letters >= 0) yield ["é".repeat(accents) + "x".repeat(letters)];
    }
  }
}

for (const digits of [1, 2, 3, 4, 5]) {
  Deno.test(`encodeMessage() and append() count ${digits} and ${digits + 1} digits of bytes`, async () => {
    const messages = [...bordersOf(digits)];
    const expected = messages.map((message) => {
      const body = new TextEncoder().encode(JSON.stringify(message));
      return `Content-Length: ${body.length}\r\n\r\n${JSON.stringify(message)}`;
    });
    const frames = messages.map((message) =>
      new TextDecoder().decode(encodeMessage(message, "content-length"))
    );
    assertEquals(frames, expected);

    const sink = new Sink();
    const writer = new MessageWriter(sink.stream);
    for (const message of messages) writer.append(message);
    await writer.drained(0);
    assertEquals(sink.text, expected.join(""));
  });
}

const CYCLE: { self?: object } = {};
CYCLE.self = CYCLE;

for (
  const [what, message] of [["a BigInt", [1n]], ["a cycle", CYCLE]] as const
) {
  Deno.test(`encodeMessage() and append() refuse ${what}, and append() adds nothing`, () => {
    const writer = new MessageWriter(new Sink().stream);
    assertThrows(() => encodeMessage(message, "newline"), TypeError);
    assertThrows(() => writer.append(message), TypeError);
    assertEquals(writer.unsentBytes, 0);
  });
}

Deno.test("writeMessage() writes one frame in one write and leaves the stream open", async () => {
  const sink = new Sink();
  await writeMessage(sink.stream, { id: 0 });
  await writeMessage(sink.stream, { id: 1 }, { framing: "newline" });
  assertEquals(sink.text, 'Content-Length: 8\r\n\r\n{"id":0}{"id":1}\n');
  assertEquals(sink.writes.length, 2);
  assertEquals([sink.stream.locked, sink.closed], [false, false]);
});

Deno.test("writeMessage() rejects where the stream fails, and leaves it unlocked", async () => {
  const sink = new Sink(() => Promise.reject(GONE));
  const error = await assertRejects(
    () => writeMessage(sink.stream, {}),
    TransportError,
    "Cannot write message: stream failed: gone",
  );
  assertStrictEquals(error.cause, GONE);
  assertEquals(sink.stream.locked, false);
});

for (const framing of FRAMINGS) {
  Deno.test(`MessageWriter.flush() sends what was appended in one write (${framing})`, async () => {
    const sink = new Sink();
    const writer = new MessageWriter(sink.stream, { framing });
    writer.flush();
    for (let id = 0; id < 100; id++) writer.append({ id });
    assertEquals(sink.writes, []);
    writer.flush();
    await writer.drained(0);
    const reader = new MessageReader(ReadableStream.from(sink.writes));
    const ids = Array.from({ length: 100 }, (_, id) => `{"id":${id}}`);
    assertEquals(await outcomesOf(reader), ids);
    assertEquals(sink.writes.length, 1);
  });

  Deno.test(`MessageWriter keeps the order of small and big messages (${framing})`, async () => {
    const sink = new Sink();
    const writer = new MessageWriter(sink.stream, { framing });
    const lengths = [
      1,
      16_379,
      16_380,
      16_381,
      2,
      70_000,
      3,
      ...Array(99).fill(4000),
    ];
    const messages = lengths.map((length, id) => [id, "漢".repeat(length)]);
    for (const message of messages) writer.append(message);
    await writer.drained(0);
    const reader = new MessageReader(ReadableStream.from(sink.writes));
    const expected = messages.map((message) => JSON.stringify(message));
    assertEquals(await outcomesOf(reader), expected);
  });
}

Deno.test("MessageWriter.flush() during a write sends what was appended since in the next one", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sink = new Sink(() => promise);
  const writer = new MessageWriter(sink.stream, { framing: "newline" });
  writer.append([1]);
  writer.flush();
  writer.append([2]);
  writer.flush();
  writer.append([3]);
  writer.flush();
  assertEquals(writer.unsentBytes, 12);
  resolve();
  await writer.drained(0);
  assertEquals(writer.unsentBytes, 0);
  assertEquals(sink.writes.map((chunk) => chunk.length), [4, 8]);
  assertEquals(sink.text, "[1]\n[2]\n[3]\n");
});

Deno.test("MessageWriter.framing holds for what is appended from then on", async () => {
  const sink = new Sink();
  const writer = new MessageWriter(sink.stream);
  writer.append([1]);
  writer.framing = "newline";
  writer.append([2]);
  await writer.drained(0);
  assertEquals(sink.text, "Content-Length: 3\r\n\r\n[1][2]\n");
});

Deno.test("MessageWriter.drained() waits for no more than is asked", async () => {
  const writer = new MessageWriter(
    new Sink(() => new Promise(() => {})).stream,
  );
  writer.append([1]);
  await writer.drained(writer.unsentBytes);
  writer.flush();
  await writer.drained(writer.unsentBytes);
});

Deno.test("MessageWriter.failed tells what the stream said, and drained() waits no longer", async () => {
  const sink = new Sink(() => Promise.reject(GONE));
  const writer = new MessageWriter(sink.stream);
  writer.append([1]);
  await writer.drained(0);
  assertStrictEquals(await writer.failed, GONE);
  writer.append([2]);
  writer.flush();
  await writer.drained(0);
  await writer.close();
  assertEquals(sink.writes.length, 1);
});

Deno.test("MessageWriter.abandon() gives up what nobody takes", async () => {
  const writer = new MessageWriter(
    new Sink(() => new Promise(() => {})).stream,
  );
  writer.append([1]);
  const drained = writer.drained(0);
  writer.abandon();
  await drained;
  assertEquals(writer.unsentBytes, 24);
});

Deno.test("MessageWriter.close() closes the stream after what was flushed", async () => {
  const sink = new Sink();
  const writer = new MessageWriter(sink.stream, { framing: "newline" });
  writer.append([1]);
  writer.flush();
  await writer.close();
  assertEquals([sink.text, sink.closed], ["[1]\n", true]);
});
