/**
 * Plays `transcripts/` through `serve`, in every framing, message by message
 * and all at once. What is written must be the `< ` lines, byte for byte.
 *
 * `deno test --allow-read --allow-write tests/transcript_test.ts -- --rewrite`
 * makes the `< ` lines what the server writes now; review the difference.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { Framing } from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { PROTOCOL_VERSIONS } from "../protocol/revisions.ts";
import { serve } from "../server.ts";
import "../tools/mod.ts";
import { frameText } from "./_framing_cases.ts";
import {
  type Exchange,
  readTranscripts,
  type Transcript,
  writeTranscript,
} from "./transcripts/_transcripts.ts";

const ANSWER_LIMIT_MS = 10_000;
const QUIET_MS = 50;

const transcripts = readTranscripts();
const rewriting = Deno.args.includes("--rewrite");

Deno.test("transcripts cover every revision", {
  ignore: transcripts.length === 0,
}, () => {
  const covered = new Set(transcripts.map(({ revision }) => revision));
  assertEquals([...covered].sort(), [...PROTOCOL_VERSIONS]);
});

for (const transcript of transcripts) {
  if (rewriting) {
    Deno.test(`rewrite ${transcript.name}`, () => rewrite(transcript));
    continue;
  }
  for (const framing of FRAMINGS) {
    Deno.test(`serve() plays ${transcript.name} in ${framing} framing`, () =>
      play(transcript, framing));
    Deno.test(`serve() plays ${transcript.name} at once in ${framing} framing`, () =>
      playAtOnce(transcript, framing));
  }
}

/** Each answer must come before the next message is sent. */
async function play(transcript: Transcript, framing: Framing): Promise<void> {
  const peer = new Peer(transcript.strict);
  const last = transcript.exchanges.at(-1);
  let expected = "";
  for (const exchange of transcript.exchanges) {
    const { sent, answers } = exchange;
    peer.send(frameText(sent, framing));
    if (exchange === last) peer.end();
    expected += frames(exchange, framing);
    await peer.until(expected);
    assertEquals(peer.output, expected, `after > ${sent} (${answers.length})`);
  }
  assertEquals(await peer.served, 0);
  assertEquals(peer.output, expected);
}

async function playAtOnce(
  { exchanges, strict }: Transcript,
  framing: Framing,
): Promise<void> {
  const peer = new Peer(strict);
  peer.send(exchanges.map(({ sent }) => frameText(sent, framing)).join(""));
  peer.end();
  assertEquals(await peer.served, 0);
  assertEquals(
    peer.output,
    exchanges.map((exchange) => frames(exchange, framing)).join(""),
  );
}

async function rewrite(transcript: Transcript): Promise<void> {
  const peer = new Peer(transcript.strict);
  let seen = 0;
  for (const exchange of transcript.exchanges) {
    peer.send(frameText(exchange.sent, "newline"));
    if (exchange === transcript.exchanges.at(-1)) peer.end();
    await peer.quiet();
    exchange.answers = peer.output.slice(seen).split("\n").slice(0, -1);
    seen = peer.output.length;
  }
  assertEquals(await peer.served, 0);
  assertEquals(peer.output.length, seen);
  writeTranscript(transcript);
}

function frames({ answers }: Exchange, framing: Framing): string {
  return answers.map((answer) => frameText(answer, framing)).join("");
}

/** The other end of a server's two streams. */
class Peer {
  /** Everything that the server has written. */
  output = "";
  /** What `serve` resolves to. */
  served: Promise<number>;
  #input?: ReadableStreamDefaultController<Uint8Array>;
  #wake: () => void = () => {};

  constructor(strict: boolean) {
    const decoder = new TextDecoder();
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#input = controller;
      },
    });
    const writable = new WritableStream<Uint8Array>({
      write: (chunk) => {
        this.output += decoder.decode(chunk, { stream: true });
        this.#wake();
      },
    });
    this.served = serve({ readable, writable, strict, logLevel: "ERROR" });
  }

  send(text: string): void {
    this.#input?.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#input?.close();
  }

  /** Wait until as much has been written as is expected, or the wrong thing. */
  async until(expected: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ANSWER_LIMIT_MS);
    });
    while (
      this.output.length < expected.length && expected.startsWith(this.output)
    ) {
      const woken = new Promise<boolean>((resolve) => {
        this.#wake = () => resolve(true);
      });
      assert(await Promise.race([woken, limit]), `only ${this.output} came`);
    }
    clearTimeout(timer);
  }

  /** Wait until nothing has been written for a while. */
  async quiet(): Promise<void> {
    let before: number;
    do {
      before = this.output.length;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    } while (this.output.length > before);
  }
}
