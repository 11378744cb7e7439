/**
 * `serve` over streams in memory. The process around it, how it ends and what
 * it writes to stderr, is left to `server_process_test.ts`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { concatReadableStreams, toText } from "@std/streams";
import { type Framing, MessageReader, readMessage } from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { serve, type ServeOptions } from "../server.ts";
import { register, registeredTools, type Tool } from "../tools/registry.ts";
import { newestHandshake } from "../protocol/revisions.ts";
import { chunked, claimOf, memoryPair } from "./_fixtures.ts";
import { WRAPPINGS } from "./_framing_cases.ts";

const ANY = { type: "object" };
const encoder = new TextEncoder();

const ECHO: Tool = {
  name: "echo",
  description: "Give the text back",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  },
  fn: ({ text }) => text,
};
register(ECHO);
register({
  name: "echo_later",
  description: "Give the text back in a later turn",
  inputSchema: ANY,
  fn: ({ text }) => Promise.resolve(text),
});

function frame(body: string | Uint8Array, framing: Framing): Uint8Array {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const { before, after } = WRAPPINGS[framing];
  return concat([
    encoder.encode(before(bytes.length)),
    bytes,
    encoder.encode(after),
  ]);
}

function concat(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The messages that a server has written; throws where it is not framed well. */
async function unframe(output: string, framing: Framing): Promise<unknown[]> {
  const bytes = encoder.encode(output);
  const reader = new MessageReader(chunked(bytes, []), { framing });
  const messages: object[] = [];
  for (;;) {
    const message = await readMessage(reader);
    if (message === null) break;
    messages.push(message);
  }
  const frames = messages.map((one) => frame(JSON.stringify(one), framing));
  assertEquals(concat(frames), bytes);
  return messages;
}

/** What a server answers to bodies that all lie in its input, and its exit code. */
async function converse(
  bodies: (string | Uint8Array)[],
  framing: Framing,
  options: ServeOptions & { cut?: (bytes: Uint8Array) => Iterable<number> } =
    {},
): Promise<{ answers: unknown[]; code: number }> {
  const input = concat(bodies.map((body) => frame(body, framing)));
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const served = serve({
    readable: chunked(input, options.cut?.(input) ?? []),
    writable,
    logLevel: "ERROR",
    ...options,
  });
  const answers = await unframe(await toText(readable), framing);
  return { answers, code: await served };
}

function request(method: string, params?: object, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

function call(name: string, args: object, id: unknown = 1): string {
  return request("tools/call", { name, arguments: args }, id);
}

/** The id and the code of an error answer, or `"result"` instead of a code. */
function verdict(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(verdict);
  const { id, error } = answer as { id: unknown; error?: { code: number } };
  return [id, error?.code ?? "result"];
}

const PING = request("ping", undefined, "p");
const PONG = ["p", "result"];
const { _meta: STATELESS } = claimOf("2026-07-28");

const ROWS: [title: string, body: string | Uint8Array, verdicts: unknown[]][] =
  [
    ["a request", request("tools/list"), [[1, "result"]]],
    ["no JSON", "{oops", [[null, -32700]]],
    ["a bare NaN", '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', [[
      null,
      -32700,
    ]]],
    ["a raw control character", '{"a":"\u0001"}', [[null, -32700]]],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), [[null, -32700]]],
    ["a zero byte", "\0", [[null, -32700]]],
    ["null", "null", [[null, -32600]]],
    ["a number", "5", [[null, -32600]]],
    ["a string", '"x"', [[null, -32600]]],
    ["an empty object", "{}", [[null, -32600]]],
    ["jsonrpc 1.0", '{"jsonrpc":"1.0","id":7,"method":"ping"}', [[7, -32600]]],
    ["method 7", '{"jsonrpc":"2.0","id":"a","method":7}', [["a", -32600]]],
    ["id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', [[
      null,
      -32600,
    ]]],
    ["id 1e400", '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', [[
      null,
      -32600,
    ]]],
    ["id 2^60", '{"jsonrpc":"2.0","id":1152921504606846976,"method":"ping"}', [[
      null,
      -32600,
    ]]],
    ["params 5", '{"jsonrpc":"2.0","id":1,"method":"ping","params":5}', [[
      1,
      -32600,
    ]]],
    ["params an array", request("ping", []), [[1, -32602]]],
    ["params null", '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', [[
      1,
      "result",
    ]]],
    ["an unknown method", request("nope"), [[1, -32601]]],
    ["an unknown tool", call("nope", {}), [[1, -32602]]],
    ["a notification", '{"jsonrpc":"2.0","method":"nope"}', []],
    ["a response", '{"jsonrpc":"2.0","id":1,"result":{}}', []],
    ["a batch", `[${PING},${request("nope")}]`, [[PONG, [1, -32601]]]],
    ["an empty batch", "[]", [[null, -32600]]],
    ["a batch of notifications", '[{"jsonrpc":"2.0","method":"x"}]', []],
    ["a batch with initialize", `[${request("initialize")}]`, [[[1, -32600]]]],
  ];
for (const [title, body, verdicts] of ROWS) {
  Deno.test(`serve() answers in kind and goes on when the message is ${title}`, async () => {
    for (const framing of FRAMINGS) {
      const { answers, code } = await converse([PING, body, PING], framing);
      assertEquals(answers.map(verdict), [PONG, ...verdicts, PONG], framing);
      assertEquals(code, 0);
    }
  });
}

for (const version of ["2025-06-18", "2025-11-25"]) {
  Deno.test(`serve() answers a batch with one error when ${version} was agreed on`, async () => {
    const initialize = request("initialize", { protocolVersion: version }, 0);
    for (const framing of FRAMINGS) {
      const bodies = [initialize, `[${PING},${PING}]`, "[]", PING];
      const { answers } = await converse(bodies, framing);
      const refused = [null, -32600];
      assertEquals(answers.map(verdict), [
        [0, "result"],
        refused,
        refused,
        PONG,
      ]);
    }
  });
}

Deno.test("serve() gives the same answers however the bytes are cut", async () => {
  const bodies = [
    request("initialize", { protocolVersion: "2025-11-25" }),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    call("echo", { text: "é—漢🎉 \ud83d \u2028 \u0000" }),
    call("echo_later", { text: "comió" }),
    PING,
  ];
  for (const framing of FRAMINGS) {
    const whole = await converse(bodies, framing);
    assertEquals(whole.answers.length, 4);
    const bytewise = await converse(bodies, framing, { cut: (b) => b.keys() });
    assertEquals(bytewise, whole);
  }
});

Deno.test("serve() goes on after a message over maxMessageBytes, and names both numbers", async () => {
  for (const framing of FRAMINGS) {
    const bodies = [PING, call("echo", { text: "x".repeat(1000) }), PING];
    const { answers } = await converse(bodies, framing, {
      maxMessageBytes: 100,
    });
    assertEquals(answers.map(verdict), [PONG, [null, -32600], PONG]);
    assertMatch(
      JSON.stringify(answers[1]),
      /length is 1\d\d\d bytes, limit is 100 bytes/,
    );
  }
});

Deno.test("serve() says who it is, and is strict, as its options say", async () => {
  const serverInfo = { name: "own", version: "7" };
  const options = { serverInfo, instructions: "Be kind.", strict: true };
  const initialize = request("initialize", { protocolVersion: "x" });
  const bodies = [request("tools/list"), initialize];
  const { answers } = await converse(bodies, "newline", options);
  assertEquals(answers.map(verdict), [[1, -32602], [1, "result"]]);
  assertEquals(answers[1], {
    jsonrpc: "2.0",
    id: 1,
    result: {
      protocolVersion: newestHandshake.protocolVersion,
      capabilities: { tools: {} },
      serverInfo,
      instructions: "Be kind.",
    },
  });
});

Deno.test("serve() ends what was subscribed to when the input ends", async () => {
  const params = { notifications: {}, _meta: STATELESS };
  const listen = (id: unknown): string =>
    request("subscriptions/listen", params, id);
  const cancel = JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "b", _meta: STATELESS },
  });
  for (const framing of FRAMINGS) {
    const bodies = [listen("a"), listen("b"), listen("a"), cancel, PING];
    const { answers } = await converse(bodies, framing);
    const acknowledged = [undefined, "result"];
    assertEquals(answers.map(verdict), [
      acknowledged,
      acknowledged,
      ["a", -32600],
      PONG,
      ["a", "result"],
    ]);
  }
});

Deno.test("serve() rejects a maxMessageBytes that is no whole number of at least 1", async () => {
  for (const maxMessageBytes of [0, -1, 1.5, NaN, Infinity]) {
    const { readable, writable } = new TransformStream<Uint8Array>();
    await assertRejects(
      () => serve({ readable, writable, maxMessageBytes, logLevel: "ERROR" }),
      RangeError,
    );
  }
});

Deno.test("serve() rejects a serverInfo without name or version, and an unknown logLevel", async () => {
  const wrong: [options: object, error: ErrorConstructor, says: string][] = [
    [
      { serverInfo: { name: "x" } },
      TypeError,
      'serverInfo has name "x" and version missing, expected two strings',
    ],
    [
      { serverInfo: { version: "1" } },
      TypeError,
      "serverInfo has name missing",
    ],
    [{ logLevel: "LOUD" }, RangeError, 'level is "LOUD", expected one of'],
  ];
  for (const [options, error, says] of wrong) {
    const { readable, writable } = new TransformStream<Uint8Array>();
    await assertRejects(
      () => serve({ readable, writable, ...options }),
      error,
      says,
    );
  }
});

Deno.test("serve() answers each message before the next one comes", async () => {
  for (const framing of FRAMINGS) {
    const [client, server] = memoryPair();
    const served = serve({ ...server, logLevel: "ERROR" });
    const writer = client.writable.getWriter();
    const reader = client.readable.getReader();
    for (const [id, name] of ["echo", "echo_later", "echo"].entries()) {
      const written = writer.write(
        frame(call(name, { text: "x" }, id), framing),
      );
      const { value } = await reader.read();
      await written;
      const output = new TextDecoder().decode(value);
      const [answer] = await unframe(output, framing);
      assertEquals(verdict(answer), [id, "result"]);
    }
    const closed = writer.close();
    assertEquals((await reader.read()).done, true);
    await closed;
    assertEquals(await served, 0);
  }
});

Deno.test("serve() lets answers that are ready together leave in one write", async () => {
  let writes = 0;
  const writable = new WritableStream<Uint8Array>({
    write: () => void writes++,
  });
  const input = concat(Array(500).fill(frame(PING, "newline")));
  const readable = chunked(input, []);
  assertEquals(await serve({ readable, writable, logLevel: "ERROR" }), 0);
  assertEquals(writes, 1);
});

Deno.test("serve() serves two connections at once, each its own revision", async () => {
  const open = (version: string): Promise<{ answers: unknown[] }> =>
    converse(
      [
        request("initialize", { protocolVersion: version }),
        call("echo_later", { text: "x" }),
        `[${PING}]`,
      ],
      "newline",
      { cut: (bytes) => bytes.keys() },
    );
  const [first, second] = await Promise.all([
    open("2025-03-26"),
    open("2025-11-25"),
  ]);
  assertEquals(verdict(first.answers[2]), [PONG]);
  assertEquals(verdict(second.answers[2]), [null, -32600]);
});

Deno.test("serve() answers -32603 and goes on when JSON cannot hold the answer", async () => {
  const annotations = { title: 1n as unknown as string };
  register({ ...ECHO, name: "unlisted", annotations });
  const initialize = request("initialize", { protocolVersion: "2025-03-26" });
  const list = request("tools/list");
  for (const framing of FRAMINGS) {
    const bodies = [initialize, list, `[${list},${PING}]`, PING];
    const { answers, code } = await converse(bodies, framing);
    const failed = [1, -32603];
    assertEquals(answers.slice(1).map(verdict), [
      failed,
      [failed, ["p", -32603]],
      PONG,
    ]);
    assertEquals(code, 0);
  }
  registeredTools.delete("unlisted");
});

/** Endless requests, and how many bytes of them were taken. */
function countedPings(
  total: number,
): { readable: ReadableStream<Uint8Array>; taken: () => number } {
  const chunk = concat(Array(100).fill(frame(PING, "newline")));
  let taken = 0;
  const readable = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (taken >= total) return controller.close();
      taken += chunk.length;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  return { readable, taken: () => taken };
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

Deno.test("serve() reads on while answers wait, up to maxMessageBytes of them", async () => {
  const maxMessageBytes = 100_000;
  const { readable, taken } = countedPings(1_000_000);
  const release = Promise.withResolvers<void>();
  let written = 0;
  const writable = new WritableStream<Uint8Array>({
    write: async (chunk) => {
      await release.promise;
      written += chunk.length;
    },
  });
  const served = serve({
    readable,
    writable,
    maxMessageBytes,
    logLevel: "ERROR",
  });
  await turns(100);
  // An answer is about as long as its request.
  assert(taken() > maxMessageBytes * 0.9, `${taken()} bytes were read`);
  assert(taken() < maxMessageBytes * 1.3, `${taken()} bytes were read`);
  release.resolve();
  assertEquals(await served, 0);
  const answers = taken() / frame(PING, "newline").length;
  const answer = '{"jsonrpc":"2.0","id":"p","result":{}}\n';
  assertEquals(written, answers * answer.length);
});

Deno.test("serve() reads on while a tool is slow, up to maxMessageBytes", async () => {
  const release = Promise.withResolvers<string>();
  register({
    name: "slow",
    description: "",
    inputSchema: ANY,
    fn: () => release.promise,
  });
  const { readable, taken } = countedPings(1_000_000);
  const slow = chunked(frame(call("slow", {}), "newline"), []);
  const both = concatReadableStreams(slow, readable);
  const { readable: output, writable } = new TransformStream<Uint8Array>();
  const served = serve({
    readable: both,
    writable,
    maxMessageBytes: 100_000,
    logLevel: "ERROR",
  });
  await turns(100);
  const takenMeanwhile = taken();
  release.resolve("done");
  const answers = await unframe(await toText(output), "newline");
  assertEquals(await served, 0);
  registeredTools.delete("slow");
  assert(takenMeanwhile >= 100_000 && takenMeanwhile < 120_000);
  assertEquals(verdict(answers[0]), [1, "result"]);
  assertEquals(answers.length - 1, taken() / frame(PING, "newline").length);
});

Deno.test("serve() resolves to 0 when the output fails", async () => {
  const { readable } = countedPings(1_000_000);
  const writable = new WritableStream<Uint8Array>({
    write: () => Promise.reject(new Deno.errors.BrokenPipe("gone")),
  });
  assertEquals(await serve({ readable, writable, logLevel: "ERROR" }), 0);
});
