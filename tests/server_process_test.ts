/**
 * `server.ts` as a process: how it ends, its exit code, its stderr, and what
 * tools of one's own can do to it.
 *
 * @module
 */

import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { FRAMINGS } from "../protocol/_framers.ts";
import { type StartedServer, startServer } from "./_fixtures.ts";
import { frameText, WRAPPINGS } from "./_framing_cases.ts";

const ignore = (["read", "write", "run"] as const).some((name) =>
  Deno.permissions.querySync({ name }).state !== "granted"
);

/** Tools that do what a tool should not. */
const OWN_TOOLS = `
import { register } from ${url("../tools/registry.ts")};
import { serve } from ${url("../server.ts")};

const inputSchema = { type: "object" };
function tool(name, fn) {
  register({ name, description: name, inputSchema, fn });
}
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

tool("echo", ({ text }) => text);
tool("leave_timer", () => void setInterval(() => {}, 1000));
tool("hang", () => {
  console.log("hang has begun");
  return new Promise(() => {});
});
tool("slow", async () => {
  console.log("slow has begun");
  await after(300);
  return "slow is done";
});
tool("quick", async () => await Promise.resolve("quick is done"));
tool("print", () => {
  for (const name of ["log", "info", "debug", "table", "error"]) {
    console[name]("printed by " + name);
  }
  console.clear();
});
tool("reject_later", () => {
  setTimeout(() => Promise.reject(new Error("rejected late")), 1);
});
tool("throw_later", () => {
  setTimeout(() => { throw new Error("thrown late"); }, 1);
});
tool("wait", () => after(50));
tool("fail", ({ text }) => { throw new Error(text); });
tool("print_much", () => {
  for (let i = 0; i < 100; i++) console.log("y".repeat(9999));
});
Deno.exit(await serve());
`;

function url(path: string): string {
  return JSON.stringify(new URL(path, import.meta.url).href);
}

/** Run with a server of {@linkcode OWN_TOOLS}, or of another program. */
async function withProgram(
  use: (program: string) => Promise<void>,
  source = OWN_TOOLS,
): Promise<void> {
  const program = await Deno.makeTempFile({ suffix: ".js" });
  try {
    await Deno.writeTextFile(program, source);
    await use(program);
  } finally {
    await Deno.remove(program);
  }
}

function testOwn(
  name: string,
  use: (server: StartedServer) => Promise<void>,
): void {
  Deno.test(name, { ignore }, () =>
    withProgram(async (program) => {
      await using server = startServer({ program });
      await use(server);
    }));
}

function request(method: string, params?: object, id: unknown = 1): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

function call(name: string, args: object = {}, id: unknown = name): string {
  return request("tools/call", { name, arguments: args }, id);
}

/** The id and the code of an error answer, or `"result"` instead of a code. */
function verdicts(stdout: string): unknown[] {
  const verdict = (answer: unknown): unknown => {
    if (Array.isArray(answer)) return answer.map(verdict);
    const { id, error } = answer as { id: unknown; error?: { code: number } };
    return [id, error?.code ?? "result"];
  };
  const lines = stdout.split("\n");
  assertEquals(lines.pop(), "");
  return lines.map((line) => verdict(JSON.parse(line)));
}

/** The lines of a log, those about a missing handshake left out. */
function logLines(stderr: string): string[] {
  return stderr.trimEnd().split("\n").filter((line) =>
    !/ "initialize"/.test(line)
  );
}

const PING = request("ping", undefined, "p");
const PONG = '{"jsonrpc":"2.0","id":"p","result":{}}\n';
const EOF = "INFO miniagent.server: EOF on stdin, shutting down";
const signalLine = (signal: Deno.Signal): string =>
  `INFO miniagent.server: ${signal} received, shutting down`;
const GONE =
  "WARNING miniagent.server: The reader of stdout went away, shutting down";
const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };

Deno.test(
  "server.ts answers all it was sent and exits 0 when stdin is closed at once",
  {
    ignore,
  },
  async () => {
    const session =
      request("initialize", { protocolVersion: "2025-11-25" }, 0) +
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' +
      request("tools/list", {}, 1) + call("conjugate", EAT, 2);
    const once = async (): Promise<void> => {
      await using server = startServer();
      await server.write(session);
      await server.closeInput();
      const { code, stdout, stderr } = await server.end();
      assertEquals(verdicts(stdout), [0, 1, 2].map((id) => [id, "result"]));
      assertMatch(stdout, /"text":"ate"/);
      assertEquals([code, stderr], [0, `${EOF}\n`]);
    };
    await Promise.all(Array.from({ length: 8 }, once));
  },
);

testOwn(
  "serve() finishes a slow tool when stdin is closed meanwhile",
  async (server) => {
    await server.write(call("slow") + PING);
    await server.closeInput();
    const { code, stdout, stderr } = await server.end();
    assertEquals(verdicts(stdout), [["slow", "result"], ["p", "result"]]);
    assertEquals([code, logLines(stderr)], [0, ["slow has begun", EOF]]);
  },
);

testOwn(
  "serve() ends at EOF when a tool left a timer behind",
  async (server) => {
    await server.write(call("leave_timer"));
    await server.closeInput();
    const { code, stdout } = await server.end();
    assertEquals([code, verdicts(stdout)], [0, [["leave_timer", "result"]]]);
  },
);

const HUNG: [end: "EOF" | "SIGTERM", input: string, verdicts: unknown[]][] = [
  ["EOF", call("hang") + PING, [["hang", -32603], ["p", "result"]]],
  ["SIGTERM", call("hang") + PING, [["hang", -32603]]],
  [
    "EOF",
    `[${PING.trim()},${call("hang").trim()},{"jsonrpc":"2.0","method":"x"},` +
    '{"jsonrpc":"2.0","id":5,"result":1},{"jsonrpc":"2.0","id":{}}]\n',
    [[["p", -32603], ["hang", -32603], [null, -32603]]],
  ],
];

async function hang(
  program: string,
  [end, input, expected]: typeof HUNG[number],
): Promise<void> {
  await using server = startServer({ program });
  await server.write(input);
  await server.stderr.until(/hang has begun\n/);
  const start = performance.now();
  if (end === "EOF") await server.closeInput();
  else server.child.kill(end);
  const { code, stdout, stderr } = await server.end();
  const ms = performance.now() - start;
  assert(ms > 3900 && ms < 6000, `${ms} ms`);
  assertEquals([code, verdicts(stdout)], [0, expected]);
  assertEquals(logLines(stderr), [
    "hang has begun",
    "WARNING miniagent.server: Gave up a tool that had not settled 4000 ms after the end",
    end === "EOF" ? EOF : signalLine(end),
  ]);
}

/** A client that does not read holds the server at EOF, but not after a signal. */
async function leaveUnread(program: string, last: string): Promise<void> {
  await using server = startServer({ program });
  await server.write(call("echo", { text: "x".repeat(1_000_000) }) + last);
  await server.closeInput();
  await server.stderr.until(/EOF on stdin/);
  server.child.kill("SIGTERM");
  const stderr = await server.stderr.all();
  assertMatch(
    stderr,
    /WARNING .*: Gave up \d+ bytes of answers that nobody read\n$/,
  );
  assertEquals((await server.child.status).code, 0);
}

testOwn(
  "serve() answers what is queued behind a tool that hangs, async or not, 4 s after the end",
  async (server) => {
    await server.write(call("hang") + call("quick") + call("hang") + PING);
    await server.closeInput();
    const { code, stdout } = await server.end();
    assertEquals([code, verdicts(stdout)], [0, [
      ["hang", -32603],
      ["quick", "result"],
      ["hang", -32603],
      ["p", "result"],
    ]]);
  },
);

Deno.test(
  "serve() gives up a tool that hangs, and answers that nobody reads, 4 s after the end",
  {
    ignore,
  },
  () =>
    withProgram(async (program) => {
      const outcomes = await Promise.allSettled([
        ...HUNG.map((row) => hang(program, row)),
        leaveUnread(program, ""),
        leaveUnread(program, call("hang")),
      ]);
      for (const outcome of outcomes) {
        assertEquals(outcome, { status: "fulfilled", value: undefined });
      }
    }),
);

testOwn(
  "serve() exits 0 with one warning when the reader of stdout goes away, stdin open",
  async (server) => {
    await server.write(PING);
    assertEquals(await server.stdout.until(/\n/), PONG);
    await server.stdout.cancel();
    await server.write(PING);
    assertEquals(logLines(await server.stderr.all()), [GONE]);
    assertEquals((await server.child.status).code, 0);
  },
);

testOwn(
  "serve() exits 0 with one warning when the reader of stdout goes away during a call",
  async (server) => {
    await server.stdout.cancel();
    await server.write(PING + call("hang"));
    assertEquals(logLines(await server.stderr.all()), ["hang has begun", GONE]);
    assertEquals((await server.child.status).code, 0);
  },
);

testOwn(
  "serve() exits 0 when nobody reads stdout or stderr any more",
  async (server) => {
    await server.stderr.cancel();
    await server.stdout.cancel();
    await server.write(call("print") + PING);
    assertEquals((await server.child.status).code, 0);
  },
);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  const line = signalLine(signal);
  testOwn(
    `serve() exits 0 with one line when ${signal} comes while it is idle`,
    async (server) => {
      await server.write(PING);
      await server.stdout.until(/\n/);
      server.child.kill(signal);
      const { code, stdout, stderr } = await server.end();
      assertEquals([code, stdout, logLines(stderr)], [0, PONG, [line]]);
    },
  );

  testOwn(
    `serve() finishes a slow tool and nothing else when ${signal} comes meanwhile`,
    async (server) => {
      await server.write(call("slow") + PING);
      await server.stderr.until(/slow has begun/);
      server.child.kill(signal);
      const { code, stdout, stderr } = await server.end();
      assertEquals([code, verdicts(stdout)], [0, [["slow", "result"]]]);
      assertMatch(stdout, /slow is done/);
      assertEquals(logLines(stderr), ["slow has begun", line]);
    },
  );
}

const UNFRAMED: [input: string, error: RegExp][] = [
  ["hello\r\n\r\n", /"Content-Length" is missing/],
  ["Content-Length: x\r\n\r\n", /value is "x", expected 1 to 15 digits/],
  ["Content-Length: 2\r\nContent-Length: 3\r\n\r\n", /values are 2 and 3/],
  ["Content-Length: 10\r\n\r\n{}", /stream ended after 2 of 10 bytes/],
  [`X: ${"x".repeat(9000)}`, /over 8192 bytes/],
];
for (const [input, error] of UNFRAMED) {
  Deno.test(
    `server.ts answers -32700 and exits 1 when it reads ${
      JSON.stringify(input.slice(0, 40))
    }`,
    {
      ignore,
    },
    async () => {
      await using server = startServer();
      await server.write(input);
      // Only the row that is cut short needs the end of input to be seen.
      if (input.endsWith("{}")) await server.closeInput();
      const { code, stdout, stderr } = await server.end();
      assertMatch(
        stdout,
        /^Content-Length: \d+\r\n\r\n\{"jsonrpc":"2.0","id":null,"error":\{"code":-32700,/,
      );
      assertMatch(stderr, /^ERROR miniagent\.server: [^\n]*\n$/);
      assertMatch(stderr, error);
      assertEquals(code, 1);
    },
  );
}

const USAGE: [args: string[], code: number, stdout: RegExp, stderr: RegExp][] =
  [
    [["--sise"], 2, /^$/, /^Unknown flag "--sise".*\n\nServe .*Usage: /s],
    [
      ["--log-level", "LOUD"],
      2,
      /^$/,
      /^Flag --log-level is "LOUD", expected one of DEBUG, INFO/,
    ],
    [["--log-level"], 2, /^$/, /^Flag --log-level needs a value/],
    [["--max-message-bytes=0"], 2, /^$/, /^Flag --max-message-bytes is "0"/],
    [["--strict=1"], 2, /^$/, /^Flag --strict takes no value/],
    [["extra"], 2, /^$/, /^Unknown argument "extra"/],
    [["--", "extra"], 2, /^$/, /^Unknown argument "extra"/],
    [["\u001b[2J"], 2, /^$/, /^Unknown argument "\\u001b\[2J"/],
    [
      ["--help"],
      0,
      /^Serve .*--log-level.*--max-message-bytes.*--strict.*Exit codes/s,
      /^$/,
    ],
    [["-h"], 0, /^Serve /, /^$/],
    [["--version"], 0, /^miniagent-server \d+\.\d+\n$/, /^$/],
  ];
for (const [args, code, stdout, stderr] of USAGE) {
  Deno.test(
    `server.ts exits ${code}, stdin open, when called with ${
      JSON.stringify(args)
    }`,
    {
      ignore,
    },
    async () => {
      await using server = startServer({ args });
      const ended = await server.end();
      assertEquals(ended.code, code);
      assertMatch(ended.stdout, stdout);
      assertMatch(ended.stderr, stderr);
    },
  );
}

Deno.test(
  "server.ts --help exits 0 and says nothing when the reader of stdout is gone",
  {
    ignore,
  },
  async () => {
    await using server = startServer({ args: ["--help"] });
    await server.stdout.cancel();
    assertEquals(await server.stderr.all(), "");
    assertEquals((await server.child.status).code, 0);
  },
);

const FAILED_STREAMS: [when: string, command: string, stderr: RegExp][] = [
  [
    "stdin cannot be read",
    "server.ts < /",
    /^ERROR [^\n]*Cannot read message: stream failed: [^\n]*\n$/,
  ],
  [
    "stdout cannot be written",
    "server.ts < experiments/31-mcp-server-smoke/input.bin > /dev/full",
    /ERROR [^\n]*Cannot write answers: [^\n]*\n$/,
  ],
  [
    "stdout cannot be written, of --version",
    "server.ts --version > /dev/full",
    /^Cannot write to stdout: [^\n]*\n$/,
  ],
];
for (const [when, command, expected] of FAILED_STREAMS) {
  Deno.test(
    `server.ts exits 1 and says why when ${when}`,
    { ignore: ignore || Deno.build.os !== "linux" },
    async () => {
      const { code, stdout, stderr } = await new Deno.Command("sh", {
        args: ["-c", `exec "$0" run --no-prompt ${command}`, Deno.execPath()],
        cwd: new URL("..", import.meta.url),
        signal: AbortSignal.timeout(20_000),
      }).output();
      const decoder = new TextDecoder();
      assertEquals([code, decoder.decode(stdout)], [1, ""]);
      assertMatch(decoder.decode(stderr), expected);
    },
  );
}

const FLAGS: [args: string[], stdout: RegExp, stderr: RegExp][] = [
  [["--log-level=ERROR"], /"tools":\[/, /^$/],
  [["--log-level", "WARNING"], /"tools":\[/, /^WARNING [^\n]*\n$/],
  [["--log-level=INFO"], /"tools":\[/, /^WARNING [^\n]*\nINFO [^\n]*\n$/],
  [
    ["--strict"],
    /"code":-32602.*initialize.*protocolVersion/,
    /^INFO [^\n]*\n$/,
  ],
  [
    ["--max-message-bytes", "10"],
    /"id":null.*-32600.*limit is 10 bytes/,
    /^INFO [^\n]*\n$/,
  ],
];
for (const [args, stdout, stderr] of FLAGS) {
  Deno.test(`server.ts obeys ${args.join(" ")}`, { ignore }, async () => {
    await using server = startServer({ args });
    await server.write(request("tools/list"));
    await server.closeInput();
    const ended = await server.end();
    assertMatch(ended.stdout, stdout);
    assertMatch(ended.stderr, stderr);
    assertEquals(ended.code, 0);
  });
}

const MALFORMED: [schemas: string, error: RegExp][] = [
  [
    'inputSchema: { type: "object", required: 5 }',
    /"bad": inputSchema is malformed: \/required/,
  ],
  [
    'inputSchema: { type: "object", properties: { a: { $ref: "#/nope" } } }',
    /"bad": inputSchema is malformed: .*\$ref/,
  ],
  [
    'inputSchema: { type: "object" }, outputSchema: { type: "object", properties: 5 }',
    /"bad": outputSchema is malformed: \/properties/,
  ],
  [
    'inputSchema: { type: "object", $schema: "urn:x" }',
    /"bad": inputSchema is malformed: \/\$schema/,
  ],
];
for (const [schemas, error] of MALFORMED) {
  Deno.test(
    `serve() resolves to 2, nothing served, when a tool has ${schemas}`,
    {
      ignore,
    },
    () =>
      withProgram(
        async (program) => {
          await using server = startServer({ program });
          const { code, stdout, stderr } = await server.end();
          assertEquals([code, stdout], [2, ""]);
          assertMatch(
            stderr,
            /^ERROR miniagent\.server: Cannot serve tool [^\n]*\n$/,
          );
          assertMatch(stderr, error);
        },
        OWN_TOOLS.replace(
          "Deno.exit",
          `register({ name: "bad", description: "", fn: () => {}, ${schemas} });Deno.exit`,
        ),
      ),
  );
}

testOwn("serve() sends what a tool prints to stderr", async (server) => {
  await server.write(call("print") + PING);
  await server.closeInput();
  const { stdout, stderr } = await server.end();
  assertEquals(stdout.split("\n")[1], PONG.trimEnd());
  assertEquals(verdicts(stdout), [["print", "result"], ["p", "result"]]);
  for (const name of ["log", "info", "debug", "table", "error"]) {
    assertMatch(stderr, new RegExp(`^printed by ${name}$`, "m"));
  }
});

testOwn(
  "serve() lives on when a tool's promise or timer fails after its answer",
  async (server) => {
    await server.write(
      call("reject_later") + call("throw_later") + call("wait"),
    );
    await server.stdout.until(/"wait"/);
    await server.write(PING);
    await server.closeInput();
    const { code, stdout, stderr } = await server.end();
    assertEquals([code, verdicts(stdout).at(-1)], [0, ["p", "result"]]);
    assertMatch(
      stderr,
      /^ERROR .*: Unhandled rejection: Error: rejected late\nERROR .*: +at /m,
    );
    assertMatch(
      stderr,
      /^ERROR .*: Uncaught error: Error: thrown late\nERROR .*: +at /m,
    );
  },
);

testOwn(
  "serve() logs no control character that it was sent",
  async (server) => {
    const nasty = "\u001b[2J\t\r\n\u0007\u009b\u202e";
    await server.write(
      request(nasty) + call("fail", { text: nasty }) + call(nasty) +
        `${JSON.stringify({ jsonrpc: "2.0", method: nasty })}\n` +
        `${JSON.stringify({ jsonrpc: "2.0", id: nasty, result: 1 })}\n`,
    );
    await server.closeInput();
    const { stdout, stderr } = await server.end();
    assertEquals(verdicts(stdout).length, 3);
    const lines = stderr.split("\n");
    assertEquals(lines.pop(), "");
    for (const line of lines) {
      assertMatch(line, /^(?:INFO|WARNING|ERROR) miniagent\.server: /);
      assertEquals(/[\p{Cc}\p{Bidi_Control}]/u.test(line), false, line);
    }
    assertMatch(stderr, /Tool "fail" failed: Error: \\u001b\[2J/);
  },
);

testOwn("serve() answers on when nobody reads its stderr", async (server) => {
  await server.write(call("print_much").repeat(5) + PING);
  await server.stdout.until(/"p"/);
  await server.closeInput();
  assertEquals((await server.child.status).code, 0);
  assertEquals(verdicts(await server.stdout.all()).length, 6);
});

testOwn(
  "serve() answers a client that writes 10 MB before it reads",
  async (server) => {
    const text = "x".repeat(1000);
    const count = 10_000;
    const requests = Array.from(
      { length: count },
      (_, id) => call("echo", { text }, id),
    );
    await server.write(requests.join(""));
    await server.closeInput();
    const { code, stdout } = await server.end();
    assertEquals(code, 0);
    assertEquals(verdicts(stdout), requests.map((_, id) => [id, "result"]));
  },
);

const MIB = new Uint8Array(1024 * 1024).fill(0x78);
for (const framing of FRAMINGS) {
  const { before, after } = WRAPPINGS[framing];
  Deno.test(
    `server.ts refuses a message of 65 MiB in ${framing} framing and goes on`,
    {
      ignore,
    },
    async () => {
      await using server = startServer();
      const length = 65 * MIB.length + 2;
      await server.write(`${before(length)}{"`);
      for (let i = 0; i < 65; i++) await server.write(MIB);
      await server.write(after + frameText(PING.trimEnd(), framing));
      await server.closeInput();
      const { code, stdout } = await server.end();
      assertMatch(stdout, /"id":null,"error":\{"code":-32600,/);
      assertMatch(
        stdout,
        new RegExp(`length is ${length} bytes, limit is 67108864 bytes`),
      );
      assert(stdout.endsWith(frameText(PONG.trimEnd(), framing)), stdout);
      assertEquals(code, 0);
    },
  );
}

const STALLED_MS = 300;

Deno.test(
  "server.ts stops reading when nobody takes its answers, until somebody does",
  {
    ignore,
  },
  async () => {
    await using server = startServer({ args: ["--max-message-bytes=100000"] });
    const requests = request("tools/list").repeat(100);
    const stalled = Promise.withResolvers<void>();
    let written = 0;
    const writing = (async (): Promise<void> => {
      for (; written < 100; written++) {
        const timer = setTimeout(stalled.resolve, STALLED_MS);
        await server.write(requests);
        clearTimeout(timer);
      }
      await server.closeInput();
      stalled.resolve();
    })();
    await stalled.promise;
    assertLess(written, 100);
    const [{ stdout }] = await Promise.all([server.end(), writing]);
    assertEquals(stdout.split("\n").length, 100 * 100 + 1);
  },
);
