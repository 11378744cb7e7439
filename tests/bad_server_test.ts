/**
 * The client against servers that misbehave, one way each: the right error
 * within its time, or none, and no process left.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  type Direction,
  type MCPClient,
  type MCPClientOptions,
  ProtocolError,
  ToolError,
  TransportError,
} from "../client.ts";
import type { Framing } from "../framing.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import {
  badServer,
  type MarkedCommand,
  mayRun,
  open,
  withClient,
} from "./_clients.ts";

/** Far less than any time-out of a quiet client, far more than a process takes to start. */
const SOON_MS = 5_000;

/** What a bad server is expected to come to. */
interface Case {
  /** The name of the test, after `MCPClient`. */
  does: string;
  behaviour: string;
  /** What a behaviour that takes a result answers with. */
  result?: object;
  /** @default {["content-length"]} */
  framings?: readonly Framing[];
  options?: MCPClientOptions;
  /** @default {open} */
  use?: (client: MCPClient) => Promise<unknown>;
  /** The error's class and a part of its message; none if all goes well. */
  error?: typeof ProtocolError | typeof TransportError;
  says?: string;
}

/** Open a client, and have the server's tool write messages. */
async function send(
  client: MCPClient,
  ...messages: object[]
): Promise<unknown> {
  await open(client);
  return await client.callTool("send", { messages });
}

const OK = { id: "ID", result: { content: [{ type: "text", text: "ok" }] } };

const CASES: Case[] = [
  ...["flood-lines", "flood-line", "flood-progress", "flood-always"].map(
    (behaviour): Case => ({
      does: `works with a server that floods stderr first: ${behaviour}`,
      behaviour,
      use: (client) => send(client, OK),
    }),
  ),
  {
    does: "works with a server that prints a line of 20 MB to stderr",
    behaviour: "long-line",
    use: (client) => send(client, OK),
  },
  {
    does: "rejects when the server exits at start, naming code and last lines",
    behaviour: "exit-at-start",
    error: TransportError,
    says:
      'server "deno" exited with code 3; its last stderr lines are "no key"',
  },
  {
    does: "rejects when the server exits at initialize",
    behaviour: "exit-at-initialize",
    error: TransportError,
    says: 'Cannot complete "initialize": server "deno" exited with code 4',
  },
  {
    does: "rejects when the server exits in a call",
    behaviour: "exit-in-call",
    use: (client) => send(client),
    error: TransportError,
    says: 'code 5; its last stderr lines are "first", "second"',
  },
  {
    does: "rejects when the server is killed in a call",
    behaviour: "killed-in-call",
    use: (client) => send(client),
    error: TransportError,
    says: "was ended by SIGTERM; it wrote nothing to stderr",
  },
  {
    does: "rejects when the server exits in half a frame",
    behaviour: "exit-in-frame",
    framings: FRAMINGS,
    use: (client) => send(client),
    error: TransportError,
    says: 'server "deno" exited with code 6',
  },
  {
    does: "rejects when the server writes what is not framed",
    behaviour: "not-framed",
    error: TransportError,
    says: 'value is "none", expected 1 to 15 digits',
  },
  {
    does: "rejects when the server writes without end and without a frame",
    behaviour: "babble",
    error: TransportError,
    says: "Cannot read header block: length is over 8192 bytes",
  },
  {
    does: "rejects in time when the server never answers initialize",
    behaviour: "mute",
    options: { requestTimeoutMs: 100 },
    error: TransportError,
    says:
      'within 100 ms, nor any message before: is its framing "content-length"',
  },
  {
    does: "rejects in time when the server never answers a call",
    behaviour: "mute-in-call",
    use: async (client) => {
      await open(client);
      await client.callTool("send", {}, { timeoutMs: 50 });
    },
    error: TransportError,
    says: 'Cannot complete "tools/call": no answer came within 50 ms',
  },
  {
    does: "rejects in time when the server does not read a big request",
    behaviour: "deaf",
    options: { closeTimeoutMs: 50 },
    use: async (client) => {
      await open(client);
      const args = { text: "x".repeat(4_000_000) };
      await client.callTool("send", args, { timeoutMs: 200 });
    },
    error: TransportError,
    says: "no answer came within 200 ms",
  },
  {
    does: "takes the answer of a server that exits right after it",
    behaviour: "answer-and-exit",
    framings: FRAMINGS,
    use: async (client) => {
      await open(client);
      assertEquals(await client.callTool("send"), "last");
      await assertRejects(
        () => client.callTool("send"),
        TransportError,
        "exited with code 0",
      );
    },
  },
  {
    does: "skips what the server prints to its stdout by mistake",
    behaviour: "noise",
    framings: ["newline"],
    use: async (client) => {
      await open(client);
      assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
    },
  },
  {
    does: "takes an answer that comes byte by byte",
    behaviour: "dribble",
    framings: FRAMINGS,
    use: async (client) => {
      await open(client);
      assertEquals(await client.callTool("send"), "é—漢🎉");
    },
  },
  {
    does: "refuses a list whose cursor comes again",
    behaviour: "cursor-loop",
    error: ProtocolError,
    says: 'Cannot list tools: cursor "a" came after 3 pages',
  },
  {
    does: "refuses a list without end",
    behaviour: "endless-list",
    error: ProtocolError,
    says: "came after 1001 pages of 2002 characters in all",
  },
  ...[
    { result: { tools: null }, says: "tools is null, expected an array" },
    { result: { tools: [1] }, says: "a tool has no name" },
    { result: { tools: [{ name: 5 }] }, says: "a tool has no name" },
    {
      result: { tools: [{ name: "a" }] },
      says: 'inputSchema of "a" is missing',
    },
    { result: { tools: [], nextCursor: 5 }, says: "nextCursor is 5" },
    { result: { tools: [], resultType: "x" }, says: 'resultType is "x"' },
  ].map(({ result, says }): Case => ({
    does: `refuses a list that is ${JSON.stringify(result)}`,
    behaviour: "list-of",
    result,
    error: ProtocolError,
    says: `Cannot use the answer to "tools/list": ${says}`,
  })),
  ...[
    {
      result: { protocolVersion: "2024-11-05", capabilities: {} },
      says: "no tools",
    },
    { result: { protocolVersion: "2024-11-05" }, says: "no tools" },
    { result: { protocolVersion: "1.0" }, says: 'protocolVersion is "1.0"' },
    {
      result: { protocolVersion: "2026-07-28" },
      says: '"2026-07-28", expected',
    },
    { result: {}, says: "protocolVersion is missing, expected one of 2024" },
    { result: [], says: 'to "initialize": result is an array' },
  ].map(({ result, says }): Case => ({
    does: `refuses to open with ${JSON.stringify(result)}`,
    behaviour: "initialize-with",
    result,
    use: (client) => client.initialize(),
    error: ProtocolError,
    says,
  })),
];

for (const one of CASES) {
  for (const framing of one.framings ?? ["content-length"]) {
    Deno.test(
      `MCPClient ${one.does}, ${framing}`,
      { ignore: !mayRun },
      () => run(one, framing),
    );
  }
}

async function run(one: Case, framing: Framing): Promise<void> {
  const { behaviour, result, use = open, error, says = "" } = one;
  const options = { framing, ...one.options };
  await withClient(badServer(behaviour, result), options, async (client) => {
    const started = performance.now();
    if (error === undefined) await use(client);
    else await assertRejects(() => use(client), error, says);
    assert(performance.now() - started < SOON_MS, "took too long");
  });
}

/** What the server writes as its answer to a call, and what the caller gets. */
const ANSWERS: { does: string; messages: object[]; gives: unknown }[] = [
  {
    does: "takes the answer after notifications, also unknown ones",
    messages: [{ method: "notifications/message" }, { method: "x" }, OK],
    gives: "ok",
  },
  {
    does: "takes the answer after what is no message",
    messages: [{ jsonrpc: "1.0" }, { method: 5 }, { id: null }, {}, OK],
    gives: "ok",
  },
  {
    does: "rejects when the answer has another id",
    messages: [{ ...OK, id: 999 }, OK],
    gives: new ProtocolError("the answer's id is 999, expected 2", {
      code: -32600,
    }),
  },
  {
    does: "rejects when the answer's id is text where a number was sent",
    messages: [{ ...OK, id: "2" }],
    gives: new ProtocolError('the answer\'s id is "2", expected 2', {
      code: -32600,
    }),
  },
  {
    does: "rejects when the result has no id",
    messages: [{ result: {} }],
    gives: new ProtocolError("the answer's id is missing", { code: -32600 }),
  },
  {
    does: "rejects with the error of an answer without id",
    messages: [{ id: null, error: { code: -32700, message: "Not JSON" } }],
    gives: new ProtocolError("Not JSON", { code: -32700 }),
  },
  {
    does: "rejects with the error's code, message and data",
    messages: [{ id: "ID", error: { code: 7, message: "No", data: [1] } }],
    gives: new ProtocolError("No", { code: 7, data: [1] }),
  },
  {
    does: "rejects when the error has no code",
    messages: [{ id: "ID", error: { message: "No" } }],
    gives: new ProtocolError("No", { code: -32603 }),
  },
  ...[null, "No", { code: 1 }, []].map((error) => ({
    does: `rejects when the error is ${JSON.stringify(error)}`,
    messages: [{ id: "ID", error }],
    gives: new ProtocolError("expected code and message", { code: -32600 }),
  })),
  {
    does: "takes the result when the error beside it is null",
    messages: [{ ...OK, error: null }],
    gives: "ok",
  },
  {
    does: "takes the error when the result beside it is null",
    messages: [{ id: "ID", result: null, error: { code: 7, message: "No" } }],
    gives: new ProtocolError("No", { code: 7 }),
  },
  {
    does: "rejects when the answer has both a result and an error",
    messages: [{ ...OK, error: { code: 1, message: "No" } }],
    gives: new ProtocolError("both a result and an error", { code: -32600 }),
  },
  {
    does: "rejects when the answer is not of JSON-RPC 2.0",
    messages: [{ ...OK, jsonrpc: "1.0" }],
    gives: new ProtocolError('member "jsonrpc" is "1.0"', { code: -32600 }),
  },
  ...[
    null,
    5,
    "text",
    [],
    {},
    { content: {} },
    { content: [1] },
    {
      content: [{ type: "text" }],
    },
    { toolResult: 1 },
    { content: [], resultType: "input_required" },
  ].map(
    (result) => ({
      does: `rejects when the result is ${JSON.stringify(result)}`,
      messages: [{ id: "ID", result }],
      gives: new ProtocolError('Cannot use the answer to "tools/call"', {
        code: -32600,
      }),
    }),
  ),
  {
    does: "rejects with all the text of a tool that said no",
    messages: [{
      id: "ID",
      result: {
        content: [{ type: "text", text: "a" }, { type: "text", text: "b" }],
        isError: true,
      },
    }],
    gives: new ToolError("a\nb"),
  },
];

for (const { does, messages, gives } of ANSWERS) {
  Deno.test(
    `MCPClient.callTool() ${does}`,
    { ignore: !mayRun },
    () =>
      withClient(badServer("good"), {}, async (client) => {
        const called = send(client, ...messages);
        if (gives instanceof Error) {
          const error = await assertRejects(() => called, Error, gives.message);
          const { code, data } = error as ProtocolError;
          assertInstanceOf(error, gives.constructor as typeof Error);
          assertEquals({ code, data }, {
            code: (gives as ProtocolError).code,
            data: (gives as ProtocolError).data,
          });
        } else {
          assertEquals(await called, gives);
        }
        assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
      }),
  );
}

Deno.test("MCPClient answers a ping, refuses other requests, and goes on", {
  ignore: !mayRun,
}, async () => {
  const seen: [Direction, object][] = [];
  await withClient(badServer("greet-first"), {
    onMessage: (...one) => seen.push(one),
  }, open);
  const error = {
    code: -32601,
    message: 'Method not found: "sampling/createMessage"',
  };
  assertEquals(
    seen.slice(1, 6).map(([direction, message]) => {
      const { jsonrpc: _, params: _params, ...rest } = message as {
        [key: string]: unknown;
      };
      return [direction, rest];
    }),
    [
      ["<", { method: "notifications/message" }],
      ["<", { id: "a", method: "ping" }],
      [">", { id: "a", result: {} }],
      ["<", { id: "b", method: "sampling/createMessage" }],
      [">", { id: "b", error }],
    ],
  );
});

Deno.test("MCPClient.callTool() takes the first of two answers", {
  ignore: !mayRun,
}, () =>
  withClient(badServer("good"), {}, async (client) => {
    assertEquals(await send(client, OK, { ...OK, result: {} }), "ok");
  }));

Deno.test("MCPClient.listTools() follows every cursor, the empty one too", {
  ignore: !mayRun,
}, () =>
  withClient(badServer("pages"), {}, async (client) => {
    await client.initialize();
    const names = (await client.listTools()).map(({ name }) => name);
    assertEquals(names, ["t0", "t1", "t2", "t3"]);
  }));

Deno.test("MCPClient drops the late answer to a call that timed out", {
  ignore: !mayRun,
}, async () => {
  const seen: string[] = [];
  await withClient(badServer("late"), {
    onMessage: (direction, message) =>
      seen.push(direction + JSON.stringify(message)),
  }, async (client) => {
    await open(client);
    await assertRejects(
      () => client.callTool("send", { delayMs: 150 }, { timeoutMs: 50 }),
      TransportError,
      "no answer came within 50 ms",
    );
    assertEquals(await client.callTool("send", { delayMs: 1 }), "after 1");
  });
  const cancelled = seen.filter((one) =>
    one.includes("notifications/cancelled")
  );
  assertEquals(cancelled.length, 1);
  assertStringIncludes(cancelled[0] ?? "", '"requestId":2,"reason":"no answer');
  assert(seen.some((one) => one.includes("after 150")), "came late");
});

Deno.test("MCPClient.initialize() takes an older revision that it speaks", {
  ignore: !mayRun,
}, () =>
  withClient(
    badServer("initialize-with", {
      protocolVersion: "2025-03-26",
      capabilities: { tools: {} },
    }),
    { protocolVersion: "2025-11-25" },
    async (client) => {
      const { protocolVersion } = await client.initialize();
      assertEquals(protocolVersion, "2025-03-26");
    },
  ));

/** A shell script as a server, with a word in its command that no other has. */
function shell(script: string): MarkedCommand {
  const mark = crypto.randomUUID();
  return { command: ["sh", "-c", script, mark], mark };
}

Deno.test("MCPClient rejects when the server closes its stdout but lives", {
  ignore: !mayRun,
}, () =>
  withClient(shell("exec 1>&-; cat >/dev/null"), {}, async (client) => {
    await assertRejects(
      () => client.initialize(),
      TransportError,
      'server "sh" has not exited; it wrote nothing to stderr; it closed its',
    );
  }));

Deno.test("MCPClient rejects when the server closes its stdin but lives", {
  ignore: !mayRun,
}, async () => {
  const closed = Promise.withResolvers<string>();
  await withClient(
    shell("exec 0<&-; echo closed >&2; exec sleep 100"),
    { closeTimeoutMs: 50, onStderr: closed.resolve },
    async (client) => {
      await closed.promise;
      await assertRejects(
        () => client.initialize(),
        TransportError,
        'server "sh" has not exited; its last stderr lines are "closed"; it no',
      );
    },
  );
});

Deno.test("MCPClient ends a server behind a wrapper", {
  ignore: !mayRun,
}, async () => {
  const server = badServer("good");
  const command = ["sh", "-c", '"$@"; true', "sh", ...server.command];
  await withClient({ ...server, command }, {}, async (client) => {
    assertEquals(await send(client, OK), "ok");
  });
});

Deno.test(
  "MCPClient.close() does not wait for a grandchild that holds the pipes",
  {
    ignore: !mayRun,
  },
  async () => {
    const started = performance.now();
    await withClient(
      shell("sleep 2 & exec cat >/dev/null"),
      { requestTimeoutMs: 50 },
      async (client) => {
        await assertRejects(() => client.initialize(), TransportError);
      },
    );
    assert(performance.now() - started < 1_900, "waited for the grandchild");
  },
);
