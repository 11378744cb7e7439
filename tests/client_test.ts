/**
 * The client against servers that behave: options, order, ends, revisions.
 * What it does with those that do not is in `bad_server_test.ts`.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  type Direction,
  InvalidArgumentsError,
  MCPClient,
  type MCPClientOptions,
  ProtocolError,
  TransportError,
} from "../client.ts";
import { MetaKey } from "../protocol/_meta.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import {
  newestStateless,
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
  statelessVersions,
} from "../protocol/revisions.ts";
import { registeredTools } from "../tools/mod.ts";
import {
  badServer,
  mayRun,
  open,
  ourServer,
  pathOf,
  QUIET,
  withClient,
} from "./_clients.ts";
import { claimOf } from "./_fixtures.ts";

const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };
const OK = { id: "ID", result: { content: [{ type: "text", text: "ok" }] } };

interface Seen {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
}

/** A hook that keeps what was sent and what came, and a way to look at it. */
function recorder(): {
  onMessage: (direction: Direction, message: object) => void;
  sent: Seen[];
  all: string[];
} {
  const sent: Seen[] = [];
  const all: string[] = [];
  const onMessage = (direction: Direction, message: object): void => {
    all.push(`${direction} ${(message as Seen).method ?? "answer"}`);
    if (direction === ">") sent.push(message as Seen);
  };
  return { onMessage, sent, all };
}

function test(name: string, use: () => Promise<unknown>): void {
  Deno.test(name, { ignore: !mayRun }, async () => void await use());
}

// ---- options

const REFUSED: [options: Record<string, unknown>, says: string][] = [
  [
    { protocolVersion: "2024" },
    'protocolVersion: value is "2024", expected one',
  ],
  [{ framing: "lines" }, 'framing: value is "lines", expected one of content'],
  [{ requestTimeoutMs: 0 }, "requestTimeoutMs: value is 0, expected 1 to 2147"],
  [{ requestTimeoutMs: NaN }, "requestTimeoutMs: value is NaN"],
  [{ requestTimeoutMs: 2 ** 31 }, "requestTimeoutMs: value is 2147483648"],
  [{ closeTimeoutMs: Infinity }, "closeTimeoutMs: value is Infinity"],
  [{ maxMessageBytes: 0 }, "maxMessageBytes: value is 0, expected a whole"],
  [{ maxMessageBytes: 1.5 }, "maxMessageBytes: value is 1.5"],
];

for (const [options, says] of REFUSED) {
  test(`MCPClient refuses to start with ${JSON.stringify(options)}`, () =>
    withoutClient(() =>
      assertThrows(
        () => new MCPClient(badServer("good").command, options),
        RangeError,
        says,
      )
    ));
}

test("MCPClient refuses to start an empty command", () =>
  withoutClient(() =>
    assertThrows(() => new MCPClient([]), TypeError, "empty")
  ));

const NOT_STARTED: {
  when: string;
  command: string[];
  options?: MCPClientOptions;
  says: RegExp;
}[] = [
  {
    when: "the program is missing",
    command: ["no-such-program"],
    says: /^Cannot start "no-such-program": .*not found/,
  },
  {
    when: "the program is a folder",
    command: ["/tmp"],
    says: /^Cannot start "\/tmp": .*Permission denied/,
  },
  {
    when: "the program is an empty text",
    command: [""],
    says: /^Cannot start "": /,
  },
  {
    when: "the working directory is missing",
    command: ["deno"],
    options: { cwd: "/no/such" },
    says: /^Cannot start "deno": .*No such cwd '\/no\/such'/,
  },
  {
    when: "the working directory is a file",
    command: ["deno"],
    options: { cwd: pathOf("./client_test.ts") },
    says: /^Cannot start "deno": .*cwd is not a directory/,
  },
];

for (const { when, command, options, says } of NOT_STARTED) {
  test(`MCPClient throws a TransportError when ${when}`, () =>
    withoutClient(() => {
      const error = assertThrows(
        () => new MCPClient(command, options),
        TransportError,
      );
      assert(says.test(error.message), error.message);
      assert(error.cause instanceof Error);
    }));
}

test("MCPClient throws a TransportError when the program is not allowed", async () => {
  const { stdout } = await denoEval(
    `try { new MCPClient(["sh"]) } catch (error) {
       console.log(error.name, error.message);
     }`,
    ["run", "--no-prompt", "--allow-run=deno"],
  );
  assertStringIncludes(
    stdout,
    'TransportError Cannot start "sh": Requires run access to "sh"',
  );
});

test("MCPClient starts the server where and with what it is told", async () => {
  const heard: string[] = [];
  const command = ["sh", "-c", 'pwd >&2; echo "$A,$HOME" >&2', "sh"];
  for (const clearEnv of [false, true]) {
    await using client = new MCPClient(command, {
      ...QUIET,
      cwd: "/",
      env: { A: "b c" },
      clearEnv,
      onStderr: (line) => heard.push(line),
    });
    await assertRejects(() => client.initialize(), TransportError);
  }
  assertEquals(heard.filter((line) => line === "/").length, 2);
  assertEquals(heard.includes("b c,"), true);
  assertEquals(heard.filter((line) => /^b c,./.test(line)).length, 1);
});

test("MCPClient hands arguments over with no shell in between", async () => {
  const heard: string[] = [];
  const words = ["a b'c", 'd"e', "*", "", "-x", "$HOME", "é\n"];
  await using client = new MCPClient(
    ["sh", "-c", 'printf "%s|" "$@" >&2', "sh", ...words],
    { ...QUIET, onStderr: (line) => heard.push(line) },
  );
  await assertRejects(() => client.initialize(), TransportError);
  assertEquals(heard.join("\n"), `${words.join("|")}|`);
});

// ---- order

test("MCPClient.callTool() refuses before listTools(), nothing sent", async () => {
  const { onMessage, sent } = recorder();
  await withClient(badServer("good"), { onMessage }, async (client) => {
    await client.initialize();
    await assertRejects(
      () => client.callTool("send"),
      TypeError,
      'Cannot call tool "send": call listTools() first',
    );
  });
  assertEquals(sent.length, 2);
});

for (const framing of FRAMINGS) {
  test(`MCPClient sends concurrent calls one after the other, ${framing}`, async () => {
    const { onMessage, all, sent } = recorder();
    await withClient(ourServer(), { onMessage, framing }, async (client) => {
      await open(client);
      const verbs = ["eat", "go", "see", "work"];
      const forms = verbs.map((verb) =>
        client.callTool("conjugate", { ...EAT, verb })
      );
      assertEquals(await Promise.all(forms), ["ate", "went", "saw", "worked"]);
    });
    const turn = ["> tools/call", "< answer"];
    assertEquals(all, [
      ...["> initialize", "< answer", "> notifications/initialized"],
      ...["> tools/list", "< answer", ...turn, ...turn, ...turn, ...turn],
    ]);
    assertEquals(sent.map(({ id }) => id), [0, undefined, 1, 2, 3, 4, 5]);
  });
}

test("MCPClient.callTool() refuses what JSON cannot hold, and goes on", async () => {
  const { onMessage, sent } = recorder();
  await withClient(badServer("good"), { onMessage }, async (client) => {
    await open(client);
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const args of [cycle, { n: 1n }]) {
      await assertRejects(() => client.callTool("not listed", args), TypeError);
    }
    assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
  });
  assertEquals(sent.filter(({ method }) => method === "tools/call").length, 1);
});

// ---- time limits and signals

test("MCPClient.callTool() cancels what it gives up, and goes on", async () => {
  const { onMessage, sent } = recorder();
  await withClient(badServer("good"), { onMessage }, async (client) => {
    await open(client);
    const controller = new AbortController();
    const { signal } = controller;
    const waits = client.callTool("send", { messages: [] }, { signal });
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await assertRejects(() => waits, Error, "enough");
    await assertRejects(
      () => client.callTool("send", { messages: [] }, { timeoutMs: 20 }),
      TransportError,
      "no answer came within 20 ms",
    );
    assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
  });
  const cancelled = sent.filter(({ method }) =>
    method === "notifications/cancelled"
  );
  assertEquals(cancelled.map(({ params }) => params), [
    { requestId: 2, reason: "aborted by the caller" },
    { requestId: 3, reason: "no answer came within 20 ms" },
  ]);
});

test("MCPClient.callTool() sends nothing when its signal aborts before or while queued", async () => {
  const { onMessage, sent } = recorder();
  await withClient(badServer("late"), { onMessage }, async (client) => {
    await open(client);
    const signal = AbortSignal.abort(new Error("too late"));
    await assertRejects(
      () => client.callTool("send", { delayMs: 1 }, { signal }),
      Error,
      "too late",
    );
    const controller = new AbortController();
    const calls = [
      client.callTool("send", { delayMs: 40 }),
      client.callTool("send", { delayMs: 2 }, { signal: controller.signal }),
      client.callTool("send", { delayMs: 3 }),
    ];
    controller.abort(new Error("changed my mind"));
    const settled = await Promise.allSettled(calls);
    assertEquals(
      settled.map((one) => "value" in one ? one.value : one.reason.message),
      ["after 40", "changed my mind", "after 3"],
    );
  });
  const calls = sent.filter(({ method }) => method === "tools/call");
  assertEquals(calls.length, 2);
});

test("MCPClient.callTool() refuses a time limit out of range, nothing sent", () =>
  withClient(badServer("good"), {}, async (client) => {
    await open(client);
    for (const timeoutMs of [0, -1, NaN, Infinity]) {
      await assertRejects(
        () => client.callTool("send", {}, { timeoutMs }),
        RangeError,
        "timeoutMs: value is",
      );
    }
  }));

test("MCPClient.initialize() is not cancelled when it takes too long", async () => {
  const { onMessage, sent } = recorder();
  const options = { onMessage, requestTimeoutMs: 50 };
  await withClient(badServer("mute"), options, async (client) => {
    await assertRejects(() => client.initialize(), TransportError, "50 ms");
  });
  assertEquals(sent.map(({ method }) => method), ["initialize"]);
});

// ---- the end

test("MCPClient.close() may come twice, and first", () =>
  withClient(badServer("good"), {}, async (client) => {
    const closing = client.close();
    assert(client.close() === closing);
    await closing;
    for (const act of [() => client.initialize(), () => client.listTools()]) {
      await assertRejects(act, TransportError, "client is closed");
    }
  }));

test("MCPClient.close() rejects what waits and what is queued, at once", () =>
  withClient(badServer("mute-in-call"), {}, async (client) => {
    await open(client);
    const waiting = [client.callTool("send"), client.callTool("send")];
    const settled = Promise.allSettled(waiting);
    await client.close();
    for (const one of await settled) {
      assertEquals(one.status, "rejected");
      const { reason } = one as PromiseRejectedResult;
      assert(reason instanceof TransportError);
      assertEquals(
        reason.message,
        'Cannot complete "tools/call": client is closed',
      );
    }
  }));

test("MCPClient.close() while it reconnects starts nothing more", () =>
  withClient(
    badServer("exit-on-probe"),
    { protocolVersion: "auto" },
    async (client) => {
      const opened = client.initialize();
      const failed = assertRejects(() => opened, TransportError, "closed");
      await client.close();
      await failed;
    },
  ));

test("MCPClient leaves nothing behind: 100 in a row, 20 at once", async () => {
  const { code, stdout, stderr } = await denoEval(`
    const command = ${JSON.stringify(ourServer().command)};
    // Pipes and process handles; the sockets are Deno's own, for SIGCHLD.
    const isHandle = (name) => {
      try {
        return /^(pipe|anon_inode)/.test(Deno.readLinkSync("/proc/self/fd/" + name));
      } catch {
        return false; // of the listing itself
      }
    };
    const handles = () => Deno.build.os !== "linux" ? 0 :
      [...Deno.readDirSync("/proc/self/fd")].filter(({ name }) => isHandle(name)).length;
    const use = async () => {
      await using client = new MCPClient(command, { onStderr: () => {} });
      await client.initialize();
      return (await client.listTools()).length;
    };
    const useAtOnce = () => Promise.all(Array.from({ length: 20 }, use));
    await use();
    const before = handles();
    let tools = 0;
    for (let i = 0; i < 100; i++) tools += await use();
    const all = await useAtOnce();
    console.log(tools / 100, all.length, handles() - before);
  `);
  assertEquals({ code, stdout, stderr }, {
    code: 0,
    stdout: `${registeredTools.size} 20 0\n`,
    stderr: "",
  });
});

test("MCPClient leaves nothing behind in this process either: 10 at once", async () => {
  const clients = Array.from(
    { length: 10 },
    () =>
      withClient(ourServer(), {}, async (client) => {
        await open(client);
        assertEquals(await client.callTool("conjugate", EAT), "ate");
      }),
  );
  await Promise.all(clients);
});

// ---- revisions

const SPOKEN: (ProtocolVersion | "auto" | undefined)[] = [
  ...PROTOCOL_VERSIONS,
  "auto",
  undefined,
];

for (const protocolVersion of SPOKEN) {
  test(`MCPClient speaks ${protocolVersion ?? "the oldest revision"} to our server`, async () => {
    const { onMessage, sent } = recorder();
    const options = { protocolVersion, onMessage };
    await withClient(ourServer("--strict"), options, async (client) => {
      await open(client);
      assertEquals(await client.callTool("conjugate", EAT), "ate");
      const went = await client.callTool("lookup_irregular_verb", {
        verb: "go",
      });
      assertEquals((went as Record<string, unknown>)["past_simple"], "went");
      await assertRejects(() => client.callTool("nope"), ProtocolError, "nope");
    });
    const spoken = protocolVersion === "auto"
      ? newestStateless.protocolVersion
      : protocolVersion;
    const { _meta: claim } = claimOf(spoken ?? "");
    const opening = claim !== undefined
      ? ["server/discover"]
      : ["initialize", "notifications/initialized"];
    const calls = ["tools/list", "tools/call", "tools/call", "tools/call"];
    assertEquals(sent.map(({ method }) => method), [...opening, ...calls]);
    const name = { name: "miniagent-client", version: "0.1" };
    const meta = claim && { ...claim, [MetaKey.clientInfo]: name };
    for (const { params } of sent) assertEquals(params?.["_meta"], meta);
  });
}

const PROBED: {
  when: string;
  behaviour: string;
  result?: object;
  methods: string[];
}[] = [
  {
    when: "the server refuses the probe",
    behaviour: "good",
    methods: ["initialize", "notifications/initialized"],
  },
  {
    when: "the server answers the probe with no revision of ours",
    behaviour: "discover-with",
    result: { supportedVersions: ["2099-01-01"] },
    methods: ["initialize", "notifications/initialized"],
  },
  {
    when: "the server exits on the probe",
    behaviour: "exit-on-probe",
    methods: ["initialize", "notifications/initialized"],
  },
  {
    when: "the server refuses the probe and then exits",
    behaviour: "refuse-probe-and-exit",
    methods: ["initialize", "initialize", "notifications/initialized"],
  },
  {
    when: "the server answers the probe too late",
    behaviour: "late-probe",
    methods: ["initialize", "notifications/initialized"],
  },
  {
    when: "the server is stateless only",
    behaviour: "stateless-only",
    methods: [],
  },
];

for (const { when, behaviour, result, methods } of PROBED) {
  test(`MCPClient.initialize() finds out by "auto" when ${when}`, async () => {
    const { onMessage, sent } = recorder();
    await withClient(badServer(behaviour, result), {
      protocolVersion: "auto",
      requestTimeoutMs: 400,
      onMessage,
    }, async (client) => {
      await open(client);
      assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
    });
    const names = sent.map(({ method }) => method)
      // A server that exits may be gone before the handshake is sent, or after.
      .filter((name, i, all) => name !== "initialize" || name !== all[i - 1]);
    assertEquals(names, [
      "server/discover",
      ...new Set(methods),
      "tools/list",
      "tools/call",
    ]);
  });
}

test('MCPClient.initialize() gives up by "auto" when the server always exits', () =>
  withClient(badServer("exit-at-start"), {
    protocolVersion: "auto",
  }, (client) =>
    assertRejects(
      () => client.initialize(),
      TransportError,
      'Cannot complete "initialize": server "deno" exited with code 3',
    )));

for (const protocolVersion of ["auto", "2026-07-28"] as const) {
  test(`MCPClient.initialize() refuses a stateless server without tools, ${protocolVersion}`, async () => {
    const { onMessage, sent } = recorder();
    const server = badServer("discover-with", {
      supportedVersions: statelessVersions,
      capabilities: {},
    });
    await withClient(
      server,
      { protocolVersion, onMessage },
      (client) =>
        assertRejects(() => client.initialize(), ProtocolError, "no tools"),
    );
    assertEquals(sent.map(({ method }) => method), ["server/discover"]);
  });
}

test("MCPClient.initialize() refuses a server without the stateless revision", () =>
  withClient(
    badServer("discover-with", { supportedVersions: ["2025-11-25"] }),
    { protocolVersion: "2026-07-28" },
    (client) =>
      assertRejects(
        () => client.initialize(),
        ProtocolError,
        "supportedVersions lacks 2026-07-28",
      ),
  ));

for (const protocolVersion of ["auto", "2026-07-28"] as const) {
  test(`MCPClient writes no answers to a stateless server, ${protocolVersion}`, async () => {
    const { onMessage, sent } = recorder();
    const options = { protocolVersion, onMessage };
    await withClient(badServer("request-in-stateless"), options, open);
    assertEquals(sent.filter(({ result }) => result !== undefined), []);
    assertEquals(sent.length, 2);
  });
}

// ---- sizes

for (const framing of FRAMINGS) {
  test(`MCPClient refuses an answer over maxMessageBytes and goes on, ${framing}`, () => {
    const options = { framing, maxMessageBytes: 5000 };
    return withClient(badServer("good"), options, async (client) => {
      await open(client);
      const content = [{ type: "text", text: "x".repeat(6000) }];
      const big = { id: "ID", result: { content } };
      const error = await assertRejects(
        () => client.callTool("send", { messages: [big] }),
        ProtocolError,
        "limit is 5000 bytes",
      );
      assertEquals(error.code, -32600);
      assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
    });
  });

  test(`MCPClient takes a result of 8 MB, ${framing}`, () =>
    withClient(badServer("good"), { framing }, async (client) => {
      await open(client);
      const text = "é—漢🎉".repeat(700_000);
      const result = { content: [{ type: "text", text }] };
      const messages = [{ id: "ID", result }];
      assert(await client.callTool("send", { messages }) === text);
    }));
}

// ---- schemas

const HOSTILE: { schema: object; says: string }[] = [
  { schema: { $ref: "https://example.com/x" }, says: "expected a part of" },
  { schema: { type: "strin" }, says: 'value is "strin", expected' },
  {
    schema: { $schema: "http://json-schema.org/draft-04/schema#" },
    says: "draft-04",
  },
  { schema: { $schema: "urn:mine" }, says: '/$schema: value is "urn:mine"' },
  {
    schema: { properties: { a: { pattern: "(" } } },
    says: "/properties/a/pattern",
  },
  { schema: { properties: { a: { $ref: "#/nowhere" } } }, says: "#/nowhere" },
];

for (const { schema, says } of HOSTILE) {
  test(`MCPClient.callTool() refuses a tool whose schema is ${JSON.stringify(schema)}`, async () => {
    const { onMessage, sent } = recorder();
    const server = badServer("list-of", {
      tools: [
        { name: "__proto__", inputSchema: schema },
        { name: "send", inputSchema: { type: "object" } },
      ],
    });
    await withClient(server, { onMessage }, async (client) => {
      await open(client);
      const error = await assertRejects(
        () => client.callTool("__proto__", { a: "b" }),
        ProtocolError,
        'Cannot call tool "__proto__": Cannot use schema: ',
      );
      assertStringIncludes(error.message, says);
      assertEquals(await client.callTool("send", { messages: [OK] }), "ok");
    });
    assertEquals(
      sent.filter(({ method }) => method === "tools/call").length,
      1,
    );
  });
}

test("MCPClient.callTool() reads a schema in the revision's dialect", async () => {
  const inputSchema = { properties: { a: { items: [{ type: "string" }] } } };
  for (const protocolVersion of ["2024-11-05", "2025-11-25"] as const) {
    const server = badServer("list-of", {
      tools: [{ name: "t", inputSchema }],
    });
    await withClient(server, { protocolVersion }, async (client) => {
      await open(client);
      const error = await assertRejects(
        () => client.callTool("t", { a: [5] }),
        ProtocolError,
      );
      // An array in `items` is a tuple in draft 7, and malformed in 2020-12.
      assertEquals(
        error instanceof InvalidArgumentsError,
        protocolVersion === "2024-11-05",
      );
    });
  }
});

/** Run a program that has MCPClient, with all permissions if no flags say other. */
async function denoEval(
  code: string,
  flags: string[] = ["run", "-A"],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const path = JSON.stringify(new URL("../client.ts", import.meta.url));
  const child = new Deno.Command("deno", {
    args: [...flags, "--quiet", "--ext=js", "-"],
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const program = `import { MCPClient } from ${path};\n${code}`;
  await new Blob([program]).stream().pipeTo(child.stdin);
  const output = await child.output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

/** For a test that starts no client, or none that lives. */
function withoutClient(use: () => unknown): Promise<void> {
  use();
  return Promise.resolve();
}

Deno.test("MCPClient refuses a command that is no array, nothing started", () => {
  const command = "deno run server.ts" as unknown as string[];
  assertThrows(
    () => new MCPClient(command),
    TypeError,
    'command is "deno run server.ts", expected an array',
  );
});

test("MCPClient tells a server's last lines without colors and blanks", async () => {
  const script = "printf '\\033[31mno\\033[0m key\\n\\n' >&2; exit 3";
  await using client = new MCPClient(["sh", "-c", script], {
    onStderr: () => {},
    logLevel: "ERROR",
  });
  await assertRejects(
    () => client.initialize(),
    TransportError,
    'its last stderr lines are "no key"',
  );
});

Deno.test({
  name:
    "MCPClient with auto falls back where the probe's resultType is unknown",
  ignore: Deno.permissions.querySync({ name: "run" }).state !== "granted",
  fn: async () => {
    const answer = (id: number, result: object): string =>
      `read x; echo '${JSON.stringify({ jsonrpc: "2.0", id, result })}'`;
    const capabilities = { tools: {} };
    const supportedVersions = ["2026-07-28"];
    const script = [
      answer(0, { resultType: "weird", supportedVersions, capabilities }),
      answer(1, { protocolVersion: "2025-11-25", capabilities }),
      "cat >/dev/null",
    ].join("\n");
    await using client = new MCPClient(["sh", "-c", script], {
      framing: "newline",
      protocolVersion: "auto",
    });
    const { protocolVersion } = await client.initialize();
    assertEquals(protocolVersion, "2025-11-25");
  },
});
