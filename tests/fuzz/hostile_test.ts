/**
 * Servers that mean harm, and a client that must not be harmed: schemas, lists,
 * answers and floods, each bounded in time and memory.
 *
 * The servers are shell scripts that speak lines.
 *
 * @module
 */

import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { MCPClient, ProtocolError, TransportError } from "../../client.ts";

const ignore = Deno.permissions.querySync({ name: "run" }).state !== "granted";

const OPENED =
  '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}}';

/** A script that opens a session and then does what the lines say. */
function script(...lines: string[]): string[] {
  const all = ["read x", `echo '${OPENED}'`, "read x; read x", ...lines];
  return ["sh", "-c", [...all, "exec cat >/dev/null"].join("\n")];
}

/** A command that answers `tools/list`. */
function list(result: object): string {
  return `printf '%s\\n' '${
    JSON.stringify({ jsonrpc: "2.0", id: 1, result })
  }'`;
}

async function withServer(
  command: readonly string[],
  use: (client: MCPClient) => Promise<unknown>,
  { requestTimeoutMs = 10_000 } = {},
): Promise<void> {
  await using client = new MCPClient(command, {
    framing: "newline",
    requestTimeoutMs,
    closeTimeoutMs: 200,
    logLevel: "ERROR",
    onStderr: () => {},
  });
  await client.initialize();
  await use(client);
}

/** Each doubles the next: 2^40 times the work, if it were done. */
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => {
    const next = { $ref: `#/definitions/d${i + 1}` };
    return [`d${i}`, { allOf: [next, next] }];
  }),
);

/** Schemas, what is called with, and what the refusal names. */
const SCHEMAS: [does: string, schema: object, args: object, says: RegExp][] = [
  ["a $ref to a file", { $ref: "file:///etc/passwd" }, {}, /\$ref/],
  ["a $ref to itself", { $ref: "#" }, {}, /without end/],
  ["a $ref to itself in allOf", { allOf: [{ $ref: "#" }] }, {}, /\$ref|end/],
  [
    "definitions that double one another",
    { $ref: "#/definitions/d0", definitions: { ...doubling, d40: {} } },
    {},
    /\$ref|allOf|double/,
  ],
  [
    "a pattern that backtracks",
    { properties: { a: { pattern: "^(a+)+$" } } },
    { a: `${"a".repeat(40)}!` },
    /pattern/,
  ],
  [
    "a name that is such a pattern",
    { patternProperties: { "^(a+)+$": {} } },
    { [`${"a".repeat(40)}!`]: 1 },
    /patternProperties/,
  ],
];

for (const [does, schema, args, says] of SCHEMAS) {
  Deno.test({
    name: `MCPClient.callTool() refuses ${does} at once, and names it`,
    ignore,
    fn: async () => {
      const inputSchema = { type: "object", ...schema };
      const command = script(list({ tools: [{ name: "t", inputSchema }] }));
      await withServer(command, async (client) => {
        await client.listTools();
        const started = performance.now();
        const error = await assertRejects(
          () => client.callTool("t", args as Record<string, unknown>),
          ProtocolError,
          'Cannot call tool "t": Cannot use schema',
        );
        assert(says.test(error.message), error.message);
        assertLess(performance.now() - started, 1000);
      });
    },
  });
}

Deno.test({
  name: "MCPClient.callTool() follows no $ref into the network",
  ignore: ignore ||
    Deno.permissions.querySync({ name: "net", host: "127.0.0.1" }).state !==
      "granted",
  fn: async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    let visits = 0;
    const accepting = (async (): Promise<void> => {
      for await (const visit of listener) {
        visits++;
        visit.close();
      }
    })();
    const { port } = listener.addr as Deno.NetAddr;
    const inputSchema = { $ref: `http://127.0.0.1:${port}/schema` };
    const command = script(list({ tools: [{ name: "t", inputSchema }] }));
    await withServer(command, async (client) => {
      await client.listTools();
      await assertRejects(() => client.callTool("t"), ProtocolError, "$ref");
    });
    listener.close();
    await accepting;
    assertEquals(visits, 0);
  },
});

Deno.test({
  name: "MCPClient.listTools() takes a list of 10 MB with 300,000 tools",
  ignore,
  fn: async () => {
    const tool = '{"name":"a","inputSchema":{}},';
    const command = script(
      `printf '%s' '{"jsonrpc":"2.0","id":1,"result":{"tools":['`,
      `yes '${tool}' | head -n 300000 | tr -d '\\n'`,
      `echo '{"name":"b","inputSchema":{}}]}}'`,
    );
    await withServer(command, async (client) => {
      const started = performance.now();
      assertEquals((await client.listTools()).length, 300_001);
      assertLess(performance.now() - started, 8000);
    });
  },
});

Deno.test({
  name: "MCPClient.listTools() takes a tool named __proto__ as any other",
  ignore,
  fn: async () => {
    const inputSchema = { type: "object", required: ["a"] };
    const command = script(
      list({ tools: [{ name: "__proto__", inputSchema }] }),
      "read x",
      `echo '{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"__proto__":1}}}'`,
    );
    await withServer(command, async (client) => {
      const [tool] = await client.listTools();
      assertEquals(tool?.name, "__proto__");
      await assertRejects(
        () => client.callTool("__proto__"),
        ProtocolError,
        "/a: missing",
      );
      const value = await client.callTool("__proto__", { a: 1 });
      assertEquals(JSON.stringify(value), '{"__proto__":1}');
      assertEquals(Object.hasOwn(Object.prototype, "a"), false);
    });
  },
});

const MEBIBYTE = 1024 * 1024;

for (const [size, takes] of [[63, true], [65, false]] as const) {
  Deno.test({
    name: `MCPClient.callTool() ${
      takes ? "takes" : "refuses"
    } a result of ${size} MiB, and goes on`,
    ignore,
    fn: async () => {
      const command = script(
        list({ tools: [{ name: "t", inputSchema: {} }] }),
        "read x",
        `printf '%s' '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"'`,
        `head -c ${size * MEBIBYTE} /dev/zero | tr '\\0' x`,
        `echo '"}]}}'`,
        `read x; echo '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'`,
      );
      await withServer(command, async (client) => {
        await client.listTools();
        const call = client.callTool("t");
        if (takes) {
          assertEquals(String(await call).length, size * MEBIBYTE);
        } else {
          await assertRejects(
            () => call,
            ProtocolError,
            "limit is 67108864 bytes",
          );
        }
        assertEquals(await client.callTool("t"), []);
      });
    },
  });
}

/** Run the client's command line against a script. */
async function runCommandLine(
  words: readonly string[],
  server: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const client = new URL("../../client.ts", import.meta.url).href;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--allow-run=sh", client],
      ...["--protocol", "2024-11-05", ...words, "--", ...server],
    ],
    env: { NO_COLOR: "1" },
  }).output();
  const [out = "", err = ""] = [stdout, stderr].map((bytes) =>
    new TextDecoder().decode(bytes)
  );
  return { code, stdout: out, stderr: err };
}

Deno.test({
  name: "client.ts shows control characters escaped, whoever sent them",
  ignore,
  fn: async () => {
    const evil = "\u001b[2J\u0007\u009b\u202e\u2066\u007f";
    const properties = { [evil]: { enum: [evil], description: evil } };
    const inputSchema = { type: "object", properties };
    const tools = [{ name: evil, description: evil, inputSchema }];
    const text = JSON.stringify(`a${evil}`);
    const command = script(
      `printf '%s\\n' '${evil}' >&2`,
      list({ tools }),
      `read x; printf '%s\\n' '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":${text}}]}}'`,
    );
    for (
      const words of [["list"], ["list", "--raw"], ["call", "t"], [
        "call",
        "t",
        "--raw",
      ]]
    ) {
      const { code, stdout, stderr } = await runCommandLine(words, command);
      assertEquals(code, 0, stderr);
      assert(stdout.includes(String.raw`\u001b[2J`), stdout);
      assert(stderr.includes(String.raw`[server] \u001b[2J`), stderr);
      assert(!/(?!\n)[\p{Cc}\p{Bidi_Control}]/u.test(stdout + stderr));
    }
  },
});

const DEEP = 200_000;

Deno.test({
  name: "client.ts exits 3 where an answer is nested without end",
  ignore,
  fn: async () => {
    const nest =
      `awk 'BEGIN{for(i=0;i<${DEEP};i++)printf "["; for(i=0;i<${DEEP};i++)printf "]"}'`;
    const command = script(
      list({ tools: [{ name: "t", inputSchema: {} }] }),
      "read x",
      `printf '%s' '{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":'`,
      nest,
      "echo '}}'",
    );
    const { code, stderr } = await runCommandLine(["call", "t"], command);
    assertEquals(code, 3, stderr);
    assert(!stderr.includes("    at "), stderr);
  },
});

Deno.test({
  name: "MCPClient.listTools() takes or refuses a page nested without end",
  ignore,
  fn: async () => {
    const nest =
      `awk 'BEGIN{for(i=0;i<${DEEP};i++)printf "{\\"not\\":"; printf "true"; for(i=0;i<${DEEP};i++)printf "}"}'`;
    for (const cursor of ["", ',"nextCursor":"a"']) {
      const command = script(
        `printf '%s' '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":'`,
        nest,
        `echo '}]${cursor}}}'`,
        `read x; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'`,
      );
      await withServer(command, async (client) => {
        const [listed] = await Promise.allSettled([client.listTools()]);
        if (listed.status === "rejected") {
          assert(listed.reason instanceof ProtocolError, String(listed.reason));
          return;
        }
        await assertRejects(
          () => client.callTool("t"),
          ProtocolError,
          "nested too deep",
        );
      });
    }
  },
});

/** The most that this isolate holds more than before, in MiB, while something is done. */
async function mostHeldMiB(use: () => Promise<unknown>): Promise<number> {
  const before = heldMiB();
  let most = 0;
  const look = (): void => void (most = Math.max(most, heldMiB() - before));
  const timer = setInterval(look, 20);
  try {
    await use();
  } finally {
    clearInterval(timer);
  }
  return most;
}

function heldMiB(): number {
  const { external, heapUsed } = Deno.memoryUsage();
  return (external + heapUsed) / MEBIBYTE;
}

/** A ping that is long, as is its answer. */
const PING = JSON.stringify({
  jsonrpc: "2.0",
  id: "p".repeat(1000),
  method: "ping",
});

/** Floods, the error that ends the wait, and how much may be held. */
const FLOODS: [
  does: string,
  lines: string[],
  error: typeof ProtocolError | typeof TransportError,
  mebibytes: number,
][] = [
  [
    "pings without end and reads no answer",
    [`exec yes '${PING}'`],
    TransportError,
    300,
  ],
  [
    "pages without end",
    [
      "big=$(head -c 1000000 /dev/zero | tr '\\0' x); i=1",
      `while printf '%s%s%s\\n' '{"jsonrpc":"2.0","id":'$i',"result":{"nextCursor":"'$i'","tools":[{"name":"t","description":"' "$big" '","inputSchema":{}}]}}'; do i=$((i+1)); read x; done`,
    ],
    ProtocolError,
    300,
  ],
  [
    "bytes without end and without a line",
    ["exec cat /dev/zero"],
    TransportError,
    250,
  ],
  [
    "lines without end that are no messages",
    ["yes | head -c 1500000"],
    TransportError,
    100,
  ],
  [
    "empty lines to stderr without end",
    ["exec yes '' >&2"],
    TransportError,
    150,
  ],
  [
    "answers without end that nobody waits for",
    [
      `exec yes '{"jsonrpc":"2.0","id":0,"result":{}}'`,
    ],
    ProtocolError,
    100,
  ],
  [
    "notifications without end",
    [
      `exec yes '{"jsonrpc":"2.0","method":"x"}'`,
    ],
    TransportError,
    100,
  ],
];

for (const [does, lines, error, mebibytes] of FLOODS) {
  Deno.test({
    name:
      `MCPClient.listTools() gives up, and holds a bounded part, where a server writes ${does}`,
    ignore,
    fn: async () => {
      const started = performance.now();
      const held = await mostHeldMiB(() =>
        withServer(script(...lines), async (client) => {
          await assertRejects(() => client.listTools(), error);
        }, { requestTimeoutMs: 1000 })
      );
      assertLess(held, mebibytes);
      assertLess(performance.now() - started, 6000);
    },
  });
}

Deno.test({
  name: "MCPClient.close() ends a server that fills its stdout and its stderr",
  ignore,
  fn: async () => {
    const command = script("yes noise >&2 & yes '{}'");
    await withServer(command, async (client) => {
      const [result] = await Promise.allSettled([
        client.listTools(),
        client.close(),
      ]);
      assert(result.status === "rejected");
      assert(result.reason instanceof TransportError, String(result.reason));
    });
  },
});
