/**
 * Run the programs for long, and see whether anything piles up: memory, file
 * descriptors, processes.
 *
 * ```sh
 * deno task soak --requests 1000000 --clients 2000
 * ```
 *
 * The requests go through one server in each framing; each client starts a server, opens, lists, calls and closes. Memory at the end must be
 * within 10 % of what it was after the first tenth, and descriptors and
 * processes as many as then. The exit code is 1 where they are not.
 *
 * @module
 */

import { MCPClient } from "../client.ts";
import { encodeMessage, type Framing } from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { parseFlags, positiveInteger } from "../runtime/flags.ts";

/** What a process holds. */
interface Held {
  /** Resident memory. */
  mebibytes: number;
  /** Open file descriptors. */
  descriptors: number;
  /** Child processes. */
  children: number;
}

/** What is done, how often, and by whom. */
interface Task {
  /** Its name. */
  what: string;
  /** How often. */
  count: number;
  /** How often before that, uncounted. */
  warmUp: number;
  /** The process that is looked at. */
  pid: number;
}

const SERVER = new URL("../server.ts", import.meta.url).href;
const DENO_RUN = ["run", "--quiet", "--no-prompt"];
/**
 * V8 doubles its young space when it sees fit, in steps of up to 16 MiB that
 * are no leak. At its full size from the start, 15 bytes lost a request show.
 */
const YOUNG_SPACE =
  "--v8-flags=--min-semi-space-size=8,--max-semi-space-size=8";
/** How much memory may have grown since the first tenth. */
const MOST_GROWTH = 1.1;
/** Requests that are on their way together. */
const WINDOW = 500;
/** What comes before the count, until code is compiled and the young space in use. */
const WARM_UP = { requests: 30_000, clients: 50 };
/** Clients that live together. */
const AT_ONCE = 2;
/** Clients between two collections of garbage. */
const COLLECT_EVERY = 50;

let isWithin = true;

/** Put requests through one server: each of its methods, good and bad. */
async function soakServer(framing: Framing, count: number): Promise<void> {
  const server = new Deno.Command("deno", {
    args: [...DENO_RUN, YOUNG_SPACE, SERVER, "--log-level", "ERROR"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = server.stdin.getWriter();
  const answers = new Answers(server.stdout);
  const { requests: warmUp } = WARM_UP;
  const task = { what: `server, ${framing}`, count, warmUp, pid: server.pid };
  await report(task, async (from, to) => {
    for (let id = from; id < to; id += WINDOW) {
      const last = Math.min(id + WINDOW, to);
      await Promise.all([
        input.write(framesOf(framing, id, last)),
        answers.expect(last - id),
      ]);
    }
  });
  await input.close();
  await answers.cancel();
  await server.status;
}

/** Requests with the ids from one number up to another. */
function framesOf(framing: Framing, from: number, to: number): Uint8Array {
  const frames: Uint8Array[] = [];
  let size = 0;
  for (let id = from; id < to; id++) {
    const [method, params] = KINDS[id % KINDS.length] ?? ["ping", {}];
    const frame = encodeMessage(
      { jsonrpc: "2.0", id, method, params },
      framing,
    );
    frames.push(frame);
    size += frame.length;
  }
  const bytes = new Uint8Array(size);
  frames.reduce((at, frame) => {
    bytes.set(frame, at);
    return at + frame.length;
  }, 0);
  return bytes;
}

const VERB = { verb: "eat", tense: "past_simple", person: "3sg" };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const KINDS: [method: string, params: object][] = [
  ["tools/call", { name: "conjugate", arguments: VERB }],
  ["tools/call", {
    name: "lookup_spanish",
    arguments: { english_form: "ate" },
  }],
  ["tools/call", { name: "lookup_spanish", arguments: { english_form: "x" } }],
  ["tools/call", { name: "conjugate", arguments: { ...VERB, tense: "x" } }],
  ["tools/call", { name: "conjugate", arguments: VERB, _meta: META }],
  ["tools/call", { name: "nope" }],
  ["ping", {}],
  ["initialize", { protocolVersion: "2025-06-18" }],
  ["nope", {}],
  ["tools/list", {}],
];

/** Counts answers without taking them apart, which would be the slowest part. */
class Answers {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder("latin1");
  #tail = "";
  #seen = 0;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Read until so many more have come. */
  async expect(count: number): Promise<void> {
    while (this.#seen < count) {
      const { value } = await this.#reader.read();
      if (value === undefined) throw new Error("the server is gone");
      const text = this.#tail + this.#decoder.decode(value, { stream: true });
      this.#seen += text.split(MARK).length - 1;
      // A mark that is cut in two is seen with the next chunk.
      this.#tail = text.slice(-(MARK.length - 1));
    }
    this.#seen -= count;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

const MARK = '{"jsonrpc":"2.0","id":';

/** What V8 has not collected yet is no leak: the task gives us `gc`. */
const { gc: collectGarbage } = globalThis as { gc?: () => void };

/** Live the life of a client so many times. */
async function soakClients(count: number): Promise<void> {
  const { clients: warmUp } = WARM_UP;
  const task = { what: "client", count, warmUp, pid: Deno.pid };
  await report(task, async (from, to) => {
    let next = from;
    while (next < to) {
      const pause = Math.min(next + COLLECT_EVERY, to);
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < pause) await liveOnce(next++);
      }));
      collectGarbage?.();
    }
  });
}

async function liveOnce(n: number): Promise<void> {
  await using client = new MCPClient(["deno", ...DENO_RUN, SERVER], {
    framing: FRAMINGS[n % FRAMINGS.length],
    protocolVersion: n % 3 === 0 ? "2026-07-28" : "2025-11-25",
    onStderr: () => {},
  });
  await client.initialize();
  await client.listTools();
  await client.callTool("conjugate", VERB);
}

/** Do the first tenth and the rest, and compare what is held after each. */
async function report(
  { what, count, warmUp, pid }: Task,
  work: (from: number, to: number) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  const tenth = Math.ceil(count / 10);
  await work(0, warmUp);
  await work(0, tenth);
  const first = await heldBy(pid);
  await work(tenth, count);
  const last = await heldBy(pid);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const good = last.mebibytes <= first.mebibytes * MOST_GROWTH &&
    last.descriptors === first.descriptors && last.children === first.children;
  isWithin &&= good;
  print(
    `${what}: ${count} in ${seconds} s; after a tenth ${shown(first)}; ` +
      `at the end ${shown(last)}${good ? "" : "; OUT OF BOUNDS"}`,
  );
}

function shown({ mebibytes, descriptors, children }: Held): string {
  return `${mebibytes.toFixed(1)} MiB, ${descriptors} descriptors, ` +
    `${children} children`;
}

/** A shell looks, since Deno shows nobody /proc without every permission; the shell is no child that counts. */
async function heldBy(pid: number): Promise<Held> {
  const script = `ps -o rss= -p ${pid}; ls /proc/${pid}/fd | wc -l; ` +
    `ps -o pid= --ppid ${pid} | grep -vw $$ | wc -l`;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script] })
    .output();
  const [rss, descriptors = NaN, children = NaN] = new TextDecoder()
    .decode(stdout).trim().split(/\s+/).map(Number);
  return { mebibytes: Number(rss) / 1024, descriptors, children };
}

function print(line: string): void {
  // deno-lint-ignore no-console -- the program's output
  console.log(line);
}

const { flags } = parseFlags(
  Deno.args,
  new Map([
    ["requests", { parse: positiveInteger }],
    ["clients", { parse: positiveInteger }],
  ]),
);
const requests = Number(flags.get("requests") ?? 1_000_000);
const clients = Number(flags.get("clients") ?? 2_000);

for (const framing of FRAMINGS) {
  await soakServer(framing, Math.ceil(requests / FRAMINGS.length));
}
await soakClients(clients);
print(isWithin ? "within bounds" : "OUT OF BOUNDS");
Deno.exit(isWithin ? 0 : 1);
