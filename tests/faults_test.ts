/**
 * What may happen to the pipes and the process: closed, full, unread, stopped
 * or killed, at any point of a session.
 *
 * @module
 */

import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { MCPClient, TransportError } from "../client.ts";
import { encodeMessage, type Framing } from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { serve } from "../server.ts";
import { chunked, type StartedServer, startServer } from "./_fixtures.ts";
import "../tools/mod.ts";

const SIGNALS: Deno.Signal[] = ["SIGTERM", "SIGINT"];
const ignore = Deno.permissions.querySync({ name: "run" }).state !== "granted";

/** The messages of a session, and how many answers each is owed. */
const SESSION: [message: object, answers: number][] = [
  [request(0, "initialize", { protocolVersion: "2024-11-05" }), 1],
  [{ jsonrpc: "2.0", method: "notifications/initialized" }, 0],
  [request(1, "ping"), 1],
  [
    request(2, "tools/call", {
      name: "lookup_spanish",
      arguments: { english_form: "ate" },
    }),
    1,
  ],
];

function request(id: number, method: string, params: object = {}): object {
  return { jsonrpc: "2.0", id, method, params };
}

function sessionBytes(framing: Framing): Uint8Array {
  return concat(SESSION.map(([message]) => encodeMessage(message, framing)));
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

/** What a frame can do without at its end, and the exit code where more is missing. */
const CUT: Record<Framing, { spare: number; code: number }> = {
  "content-length": { spare: 0, code: 1 },
  "newline": { spare: 1, code: 0 },
};

/** What a server owes to so much of the session: how many answers, and how it ends. */
function owed(
  framing: Framing,
  length: number,
): { answers: number; code: number } {
  const { spare, code } = CUT[framing];
  let end = 0;
  let answers = 0;
  for (const [message, count] of SESSION) {
    const frame = encodeMessage(message, framing);
    if (length < end + frame.length - spare) break;
    end += frame.length;
    answers += count;
  }
  if (length <= end) return { answers, code: 0 };
  return { answers: answers + 1, code };
}

/** How many answers some output holds. */
function countAnswers(output: string): number {
  return output.split('{"jsonrpc":"2.0","id":').length - 1;
}

/** Keep the log of the servers in this process off the terminal. */
function quiet(): Disposable {
  const kept = Deno.stderr.write;
  Deno.stderr.write = (bytes) => Promise.resolve(bytes.length);
  return { [Symbol.dispose]: () => void (Deno.stderr.write = kept) };
}

for (const framing of FRAMINGS) {
  Deno.test(`serve() answers what is whole, wherever its input ends (${framing})`, async () => {
    using _ = quiet();
    const bytes = sessionBytes(framing);
    for (let length = 0; length <= bytes.length; length++) {
      const { readable, writable } = new TransformStream<
        Uint8Array,
        Uint8Array
      >();
      const output = new Response(readable as BodyInit & typeof readable)
        .text();
      const input = chunked(bytes.subarray(0, length), []);
      const code = await serve({ readable: input, writable });
      const answers = countAnswers(await output);
      assertEquals({ answers, code }, owed(framing, length), `${length} bytes`);
    }
  });

  Deno.test({
    name:
      `server.ts answers what is whole, wherever its stdin is closed (${framing})`,
    ignore,
    fn: async () => {
      const bytes = sessionBytes(framing);
      const sample = Array.from(
        { length: 12 },
        (_, i) => Math.floor(i * bytes.length / 11),
      );
      for (const length of sample) {
        await using server = startServer();
        await server.write(bytes.subarray(0, length));
        await server.closeInput();
        const { code, stdout } = await server.end();
        const answers = countAnswers(stdout);
        assertEquals(
          { answers, code },
          owed(framing, length),
          `${length} bytes`,
        );
      }
    },
  });

  Deno.test({
    name:
      `server.ts exits with 0 and one WARNING at whichever answer its stdout is closed (${framing})`,
    ignore,
    fn: async () => {
      const asked = SESSION.filter(([, answers]) => answers > 0);
      for (let read = 0; read < asked.length; read++) {
        await using server = startServer();
        for (const [i, [message]] of asked.entries()) {
          if (i === read) await server.stdout.cancel();
          await server.write(encodeMessage(message, framing));
          if (i >= read) break;
          await server.stdout.until(new RegExp(`"id":${i},`));
        }
        // Its stdin is still open: it ends by itself.
        const stderr = await server.stderr.all();
        assertEquals((await server.child.status).code, 0);
        assertEquals(
          stderr.match(/^WARNING .* went away/mg)?.length,
          1,
          stderr,
        );
        assert(!stderr.includes("    at "), stderr);
      }
    },
  });
}

/** Where a server may be when a signal comes. */
const STAGES: Record<string, (server: StartedServer) => Promise<unknown>> = {
  "inside a message": async (server) => {
    await server.write(line(request(7, "ping")) + '{"jsonrpc":');
    await server.stdout.until(/"id":7,.*\n/);
  },
  "after a refusal": async (server) => {
    await server.write("{oops\n");
    await server.stdout.until(/-32700.*\n/);
  },
  "with many answers unread": async (server) => {
    await server.write(line(request(7, "ping")));
    await server.stdout.until(/"id":7,.*\n/);
    await server.write(line(request(8, "tools/list")).repeat(500));
  },
};

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

for (const signal of SIGNALS) {
  for (const [stage, reach] of Object.entries(STAGES)) {
    Deno.test({
      name: `server.ts exits with 0 at ${signal} ${stage}`,
      ignore,
      fn: async () => {
        await using server = startServer();
        await reach(server);
        server.child.kill(signal);
        const { code, stdout, stderr } = await server.end();
        assertEquals(code, 0, stderr);
        assert(stderr.includes(`INFO miniagent.server: ${signal} received`));
        // What was begun is whole.
        for (const text of stdout.trimEnd().split("\n")) JSON.parse(text);
      },
    });
  }

  Deno.test({
    name: `server.ts ends at ${signal} while it is starting`,
    ignore,
    fn: async () => {
      await using server = startServer();
      server.child.kill(signal);
      const { code, stdout } = await server.end();
      assert([0, 130, 143].includes(code), String(code));
      assertEquals(stdout, "");
    },
  });
}

Deno.test({
  name: "server.ts answers after SIGCONT what came while it was stopped",
  ignore,
  fn: async () => {
    await using server = startServer();
    await server.write(line(request(0, "ping")));
    await server.stdout.until(/"id":0,/);
    server.child.kill("SIGSTOP");
    for (let id = 1; id <= 100; id++) {
      await server.write(line(request(id, "ping")));
    }
    await delay(200);
    server.child.kill("SIGCONT");
    await server.stdout.until(/"id":100,/);
    await server.closeInput();
    const { code, stdout } = await server.end();
    assertEquals(code, 0);
    assertEquals(countAnswers(stdout), 101);
  },
});

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How much memory a process holds, in MiB. */
async function heldMiB(pid: number): Promise<number> {
  const args = ["-o", "rss=", "-p", String(pid)];
  const { stdout } = await new Deno.Command("ps", { args }).output();
  return Number(new TextDecoder().decode(stdout)) / 1024;
}

/** The ids of the answers that come, in order, until there are so many. */
async function readIds(
  stream: ReadableStream<Uint8Array>,
  count: number,
): Promise<number[]> {
  const ids: number[] = [];
  const decoder = new TextDecoderStream();
  let rest = "";
  for await (
    const text of stream.pipeThrough(
      decoder as TransformStream<Uint8Array, string>,
    )
  ) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const one of lines) ids.push(JSON.parse(one).id);
    if (ids.length >= count) break;
  }
  return ids;
}

/** A server whose outputs nobody reads yet. */
function spawnServer(args: string[] = []): Deno.ChildProcess {
  const path = new URL("../server.ts", import.meta.url).href;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", path, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

Deno.test({
  name:
    "server.ts holds a bounded part of 10,000 long answers that nobody reads for 2 s, and gives all in order",
  ignore,
  fn: async () => {
    const count = 10_000;
    const server = spawnServer(["--max-message-bytes", "1000000"]);
    const input = Array.from(
      { length: count },
      (_, id) => line(request(id, "tools/list")),
    );
    const written = new Blob(input).stream().pipeTo(server.stdin);
    await delay(2000);
    // 40 MB of answers are asked for.
    assertLess(await heldMiB(server.pid), 110);
    const ids = await readIds(server.stdout, count);
    await Promise.all([written, server.stderr.cancel(), server.status]);
    assertEquals(ids, Array.from(ids.keys()));
    assertEquals(ids.length, count);
  },
});

/** A client of the real server, and the server's pid. */
async function startClient(
  options: { requestTimeoutMs?: number; closeTimeoutMs?: number } = {},
): Promise<[client: MCPClient, pid: number]> {
  const path = new URL("../server.ts", import.meta.url).href;
  const deno = [Deno.execPath(), "run", "--no-prompt", path];
  const pid = Promise.withResolvers<number>();
  const script = 'echo $$ >&2; exec "$@"';
  const client = new MCPClient(["sh", "-c", script, "sh", ...deno], {
    ...options,
    logLevel: "ERROR",
    onStderr: (line) => pid.resolve(Number(line)),
  });
  return [client, await pid.promise];
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

/** What a client may be doing when its server is killed: the calls that then fail. */
const CLIENT_STATES: Record<
  string,
  (client: MCPClient, kill: () => void) => Promise<Promise<unknown>[]>
> = {
  "before initialize()": async (client, kill) => {
    kill();
    return await Promise.resolve([client.initialize()]);
  },
  "in initialize()": async (client, kill) => {
    const call = client.initialize();
    kill();
    return await Promise.resolve([call]);
  },
  "in listTools()": async (client, kill) => {
    await client.initialize();
    kill();
    return [client.listTools()];
  },
  "in one of three calls": async (client, kill) => {
    await client.initialize();
    await client.listTools();
    kill();
    return [1, 2, 3].map(() =>
      client.callTool("lookup_spanish", { english_form: "ate" })
    );
  },
  "while close() waits for it": async (client, kill) => {
    await client.initialize();
    const closing = client.close();
    kill();
    await closing;
    return [client.listTools()];
  },
};

for (const [state, reach] of Object.entries(CLIENT_STATES)) {
  Deno.test({
    name:
      `MCPClient rejects what waits within 2 s where its server is killed ${state}`,
    ignore,
    fn: async () => {
      const [client, pid] = await startClient();
      await using _ = client;
      // A stopped server answers nothing before it is killed.
      const calls = await reach(client, () => {
        Deno.kill(pid, "SIGSTOP");
        Deno.kill(pid, "SIGKILL");
      });
      const started = performance.now();
      for (const result of await Promise.allSettled(calls)) {
        assert(result.status === "rejected");
        assert(result.reason instanceof TransportError, String(result.reason));
      }
      assertLess(performance.now() - started, 2000);
      await client.close();
      assert(!isAlive(pid));
    },
  });
}

Deno.test({
  name:
    "MCPClient gets its answer after SIGCONT from a server that was stopped",
  ignore,
  fn: async () => {
    const [client, pid] = await startClient();
    await using _ = client;
    await client.initialize();
    await client.listTools();
    Deno.kill(pid, "SIGSTOP");
    const answer = client.callTool("lookup_spanish", { english_form: "ate" });
    await delay(200);
    Deno.kill(pid, "SIGCONT");
    assertEquals(await answer, "comió");
  },
});

Deno.test({
  name: "MCPClient times out and ends a server that stays stopped",
  ignore,
  fn: async () => {
    const options = { requestTimeoutMs: 2000, closeTimeoutMs: 100 };
    const [client, pid] = await startClient(options);
    await using _ = client;
    await client.initialize();
    Deno.kill(pid, "SIGSTOP");
    await assertRejects(() => client.listTools(), TransportError, "2000 ms");
    const started = performance.now();
    await client.close();
    assertLess(performance.now() - started, 4000);
    assert(!isAlive(pid));
  },
});
