/**
 * What reading and writing frames costs, in both framings, whole and in
 * chunks; the baseline of each group is what JSON alone costs.
 *
 * @module
 */

import { encodeMessage, MessageReader, readMessage } from "../framing.ts";

interface Size {
  title: string;
  /** How many messages one run holds. */
  count: number;
  message: object;
  /** The length of a chunk, in bytes, and its name. */
  chunk: [bytes: number, title: string];
}

const FRAMINGS = ["newline", "content-length"] as const;
const SIZES: Size[] = [
  {
    title: "1,000 messages of 140 B",
    count: 1_000,
    message: callOf("eat"),
    chunk: [100, "100 B"],
  },
  {
    title: "64 KiB",
    count: 1,
    message: callOf("e".repeat(64 * 1024)),
    chunk: [4 * 1024, "4 KiB"],
  },
  {
    title: "8 MiB",
    count: 1,
    message: callOf("e".repeat(8 * 1024 * 1024)),
    chunk: [64 * 1024, "64 KiB"],
  },
];

for (const size of SIZES) {
  benchReading(size);
  benchWriting(size);
}

function benchReading({ title, count, message, chunk }: Size): void {
  const group = `reading ${title}`;
  const text = JSON.stringify(message);
  Deno.bench(`JSON.parse() on ${title}`, { group, baseline: true }, () => {
    for (let at = 0; at < count; at++) JSON.parse(text);
  });
  for (const framing of FRAMINGS) {
    const bytes = repeat(encodeMessage(message, framing), count);
    const [length, chunkTitle] = chunk;
    const name = `readMessage() on ${title}, ${framing}`;
    const whole = [bytes];
    const pieces = cut(bytes, length);
    // `deno bench` awaits async functions only, whatever others return.
    Deno.bench(`${name}, whole`, { group }, async () => {
      await readAll(whole, count);
    });
    Deno.bench(`${name}, chunks of ${chunkTitle}`, { group }, async () => {
      await readAll(pieces, count);
    });
  }
}

function benchWriting({ title, count, message }: Size): void {
  const group = `writing ${title}`;
  Deno.bench(`JSON.stringify() on ${title}`, { group, baseline: true }, () => {
    for (let at = 0; at < count; at++) JSON.stringify(message);
  });
  for (const framing of FRAMINGS) {
    Deno.bench(`encodeMessage() on ${title}, ${framing}`, { group }, () => {
      for (let at = 0; at < count; at++) encodeMessage(message, framing);
    });
  }
}

async function readAll(chunks: Uint8Array[], count: number): Promise<void> {
  let next = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller): void {
      const chunk = chunks[next++];
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const reader = new MessageReader(stream);
  let read = 0;
  while (await readMessage(reader) !== null) read++;
  if (read !== count) {
    throw new Error(`Cannot read all: ${read} of ${count} messages came`);
  }
}

function callOf(verb: string): object {
  const args = { verb, tense: "past_simple", person: "3sg" };
  const params = { name: "conjugate", arguments: args };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params };
}

function repeat(bytes: Uint8Array, count: number): Uint8Array {
  const whole = new Uint8Array(bytes.length * count);
  for (let at = 0; at < count; at++) whole.set(bytes, at * bytes.length);
  return whole;
}

function cut(bytes: Uint8Array, length: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += length) {
    pieces.push(bytes.subarray(at, at + length));
  }
  return pieces;
}
