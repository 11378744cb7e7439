/**
 * Faults from the field that belong to no one file: how people start servers,
 * what else they put beside them, and results that others lose.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MCPClient } from "../client.ts";
import { startServer } from "./_fixtures.ts";

const ignore =
  Deno.permissions.querySync({ name: "run" }).state !== "granted" ||
  Deno.permissions.querySync({ name: "write" }).state !== "granted";

const PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}\n';
const PONG = '{"jsonrpc":"2.0","id":"p","result":{}}\n';

function call(name: string, id: unknown = name): string {
  const params = { name, arguments: {} };
  return `${
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })
  }\n`;
}

function cancel(requestId: unknown): string {
  const method = "notifications/cancelled";
  return `${
    JSON.stringify({ jsonrpc: "2.0", method, params: { requestId } })
  }\n`;
}

/** A program of someone else's, that begins with `before`. */
function program(before: string): string {
  const server = new URL("../server.ts", import.meta.url).href;
  const registry = new URL("../tools/registry.ts", import.meta.url).href;
  return `
import { serve } from ${JSON.stringify(server)};
import { register } from ${JSON.stringify(registry)};
const tool = (name, fn) =>
  register({ name, description: "", inputSchema: { type: "object" }, fn });
${before}
Deno.exit(await serve());
`;
}

/** Send a session to a program, and give what came back. */
async function run(
  source: string,
  input: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const path = await Deno.makeTempFile({ suffix: ".js" });
  try {
    await Deno.writeTextFile(path, source);
    await using server = startServer({ program: path });
    await server.write(input);
    await server.closeInput();
    return await server.end();
  } finally {
    await Deno.remove(path);
  }
}

Deno.test({
  name:
    "serve() starts and ends where the system has no such signals, as Windows",
  ignore,
  fn: async () => {
    const none =
      `Deno.addSignalListener = () => { throw new TypeError("no"); };`;
    const { code, stdout } = await run(program(none), PING);
    assertEquals([code, stdout], [0, PONG]);
  },
});

/** What a tool may do to the stdin and stdout that are not its own. */
const GREEDY: [does: string, fn: string][] = [
  ["asks a person", "() => `${prompt('q')} ${confirm('q')}`"],
  ["warns a person", "() => { alert('x'); return 'null false'; }"],
  ["lacks a permission", "() => Deno.readTextFileSync('/etc/passwd')"],
  [
    "asks for a permission",
    "async () => (await Deno.permissions.request({ name: 'env' })).state",
  ],
];

for (const [does, fn] of GREEDY) {
  Deno.test({
    name: `serve() keeps its pipes to itself and goes on when a tool ${does}`,
    ignore,
    fn: async () => {
      const source = program(`tool("t", ${fn});`);
      const { code, stdout } = await run(source, call("t") + PING + PING);
      const lines = stdout.trimEnd().split("\n").map((line) =>
        JSON.parse(line)
      );
      assertEquals(lines.map(({ id }) => id), ["t", "p", "p"]);
      assertEquals(code, 0);
    },
  });
}

/** Cancellations that come while the call with id 1 is under way. */
const CANCELS: [what: string, message: string][] = [
  ["its id", cancel(1)],
  ["its id twice", cancel(1).repeat(2)],
  ["its id as text", cancel("1")],
  ["an id of later", cancel(2)],
  ["no id", cancel(undefined)],
  ["an id that is none", cancel({ __proto__: null })],
];

for (const [what, message] of CANCELS) {
  Deno.test({
    name:
      `serve() answers once and goes on when a call is cancelled by ${what}`,
    ignore,
    fn: async () => {
      const slow = `tool("t", () => new Promise((go) => setTimeout(go, 50)));`;
      const input = call("t", 1) + message + call("t", "1") + PING + message;
      const { code, stdout } = await run(program(slow), input);
      const lines = stdout.trimEnd().split("\n").map((line) =>
        JSON.parse(line)
      );
      assertEquals(lines.map(({ id }) => id), [1, "1", "p"]);
      assertEquals(code, 0);
    },
  });
}

Deno.test({
  name: "serve() answers both of two calls with one id, in order",
  ignore,
  fn: async () => {
    const tools = `let n = 0; tool("t", async () => { await 0; return n++; });`;
    const input = call("t", 5).repeat(2) + PING + call("t", 5);
    const { stdout } = await run(program(tools), input);
    const texts = stdout.trimEnd().split("\n")
      .map((line) => JSON.parse(line).result.content?.[0].text);
    assertEquals(texts, ["0", "1", undefined, "2"]);
  },
});

Deno.test({
  name: "client.ts drives the server beside it from a folder with any name",
  ignore: ignore || Deno.build.os === "windows",
  fn: async () => {
    const folder = await Deno.makeTempDir();
    const odd = `${folder}/ a b'c "d"$é%41#?`;
    try {
      await Deno.mkdir(odd);
      const names = ["client.ts", "framing.ts", "server.ts"];
      const folders = ["protocol", "runtime", "tools"];
      const { success, stdout } = await new Deno.Command("sh", {
        args: [
          "-c",
          'target="$1"; shift; cp -r "$@" "$target" && cd / && ' +
          'deno run --quiet --allow-run=deno "$target/client.ts" call lookup_spanish english_form=ate',
          ...["sh", odd, ...names, ...folders],
        ],
        cwd: new URL("..", import.meta.url),
        stderr: "null",
      }).output();
      assert(success);
      assertEquals(new TextDecoder().decode(stdout), "comió\n");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

const TEXT = { type: "text", text: "a" };

/** Results that other clients lose a part of, and what `callTool` makes of them. */
const RESULTS: [what: string, result: object, value: unknown][] = [
  ["two texts", { content: [TEXT, TEXT] }, [TEXT, TEXT]],
  ["all kinds of blocks", {
    content: [
      TEXT,
      { type: "image", data: "", mimeType: "image/png" },
      { type: "audio", data: "", mimeType: "audio/wav" },
      { type: "resource_link", uri: "a:b", name: "b" },
      { type: "resource", resource: { uri: "a:b", text: "x" } },
      { type: "a kind of later" },
    ],
  }, undefined],
  ["one image", { content: [{ type: "image", data: "" }] }, undefined],
  ["no blocks", { content: [] }, []],
  ["structured content alone", { structuredContent: { a: 1 } }, { a: 1 }],
  ["structured content that is null", {
    content: [TEXT],
    structuredContent: null,
  }, null],
  ["a text of later fields", {
    content: [{ ...TEXT, _meta: {} }],
    _meta: { b: 1 },
  }, "a"],
  ["a text that is JSON", { content: [{ ...TEXT, text: '{"a":[]}' }] }, {
    a: [],
  }],
  ["a complete result", { content: [TEXT], resultType: "complete" }, "a"],
];

for (const [what, result, value] of RESULTS) {
  Deno.test({
    name: `MCPClient.callTool() loses nothing of ${what}`,
    ignore: ignore || Deno.build.os === "windows",
    fn: async () => {
      const answers = [
        { protocolVersion: "2025-06-18", capabilities: { tools: {} } },
        { tools: [{ name: "t", inputSchema: { type: "object" } }] },
        result,
        result,
      ].map((result, id) =>
        `read x; echo '${JSON.stringify({ jsonrpc: "2.0", id, result })}'`
      );
      answers.splice(1, 0, "read x");
      await using client = new MCPClient(["sh", "-c", answers.join("\n")], {
        framing: "newline",
        logLevel: "ERROR",
      });
      await client.initialize();
      await client.listTools();
      assertEquals(await client.callToolRaw("t"), { content: [], ...result });
      const content = "content" in result ? result.content : undefined;
      assertEquals(
        await client.callTool("t"),
        value === undefined ? content : value,
      );
    },
  });
}

Deno.test({
  name:
    "MCPClient tells of a server that ends at its start: command, code, last lines",
  ignore,
  fn: async () => {
    const path = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(path, "const = 5;");
      await using client = new MCPClient(["deno", "run", path], {
        logLevel: "ERROR",
        onStderr: () => {},
      });
      const started = performance.now();
      const [error] = await Promise.allSettled([client.initialize()]);
      assert(error.status === "rejected");
      assertStringIncludes(String(error.reason), '"deno" exited with code 1');
      assertStringIncludes(String(error.reason), "const = 5");
      assert(performance.now() - started < 5000);
    } finally {
      await Deno.remove(path);
    }
  },
});
