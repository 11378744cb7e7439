import { assertEquals, assertThrows } from "@std/assert";
import { Source } from "../../protocol/_bytes.ts";
import {
  detectFraming,
  encodeFrame,
  framers,
  FRAMINGS,
  maxFrameBytes,
  type Unframer,
} from "../../protocol/_framers.ts";
import { frameText } from "../_framing_cases.ts";

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Everything an unframer takes until it asks for more. */
function takeAll(unframer: Unframer, source: Source): object[] {
  const messages: object[] = [];
  for (let message; (message = unframer.take(source)) !== undefined;) {
    messages.push(message);
  }
  return messages;
}

Deno.test("detectFraming() takes { and [ for a line, any other byte for a header", () => {
  const lines = Array.from({ length: 256 }, (_, byte) => byte)
    .filter((byte) => detectFraming(byte) === "newline")
    .map((byte) => String.fromCharCode(byte));
  assertEquals(lines, ["[", "{"]);
});

const FRAMES: [json: string, header: string][] = [
  ["{}", "Content-Length: 2\r\n\r\n"],
  ['["é"]', "Content-Length: 6\r\n\r\n"],
  ['["1234é"]', "Content-Length: 10\r\n\r\n"],
  [`["${"漢".repeat(4000)}"]`, "Content-Length: 12004\r\n\r\n"],
];

for (const [json, header] of FRAMES) {
  Deno.test(`encodeFrame() frames ${json.slice(0, 12)} of ${json.length} characters`, () => {
    assertEquals(textOf(encodeFrame(json, "content-length")), header + json);
    assertEquals(textOf(encodeFrame(json, "newline")), `${json}\n`);
  });
}

for (const framing of FRAMINGS) {
  const framer = framers[framing];

  Deno.test(`encodeInto() stays within maxFrameBytes(), and writes nothing past what it tells (${framing})`, () => {
    for (
      const json of [
        "{}",
        "漢".repeat(333),
        "🎉".repeat(50),
        "x".repeat(10_000),
      ]
    ) {
      const target = new Uint8Array(maxFrameBytes(json));
      const length = framer.encodeInto(json, target);
      const frame = target.subarray(0, length);
      assertEquals(textOf(frame), frameText(json, framing));
      assertEquals(frame, encodeFrame(json, framing));
    }
  });

  Deno.test(`unframer().take() gives each message and leaves the rest (${framing})`, () => {
    const source = new Source();
    const unframer = framer.unframer(100);
    assertEquals(unframer.take(source), undefined);
    const frames = textOf(encodeFrame("[1]", framing)) +
      textOf(encodeFrame("[2]", framing));
    source.push(new TextEncoder().encode(frames + frames.slice(0, -3)));
    assertEquals(takeAll(unframer, source), [[1], [2], [1]]);
    source.push(new TextEncoder().encode(frames.slice(-3)));
    source.ended = true;
    assertEquals(takeAll(unframer, source), [[2]]);
  });

  Deno.test(`unframer().take() looks at each byte of a long message once (${framing})`, () => {
    const source = new Source();
    const unframer = framer.unframer(100_000);
    const frame = encodeFrame(`["${"x".repeat(50_000)}"]`, framing);
    for (const [at, byte] of frame.entries()) {
      source.push(Uint8Array.of(byte));
      const message = unframer.take(source);
      assertEquals(source.waitingBytes, 0);
      assertEquals(message !== undefined, at === frame.length - 1);
    }
  });
}

Deno.test("unframer().take() goes on with the good lines of a chunk that holds a bad one", () => {
  const source = new Source();
  const unframer = framers.newline.unframer(100);
  const good = new TextEncoder().encode("[1]\n[2]\n");
  source.push(Uint8Array.of(...good, 0xff, 10, ...good));
  assertEquals([unframer.take(source), unframer.take(source)], [[1], [2]]);
  assertThrows(() => unframer.take(source), Error, "body is not UTF-8");
  assertEquals(takeAll(unframer, source), [[1], [2]]);
});

Deno.test("unframer().take() takes the lines of a chunk that is longer than a message may be", () => {
  const source = new Source();
  const unframer = framers.newline.unframer(3);
  source.push(new TextEncoder().encode("[1]\n[23]\n[4]\n"));
  assertEquals(unframer.take(source), [1]);
  assertThrows(() => unframer.take(source), Error, "length is 4 bytes");
  assertEquals(takeAll(unframer, source), [[4]]);
});
