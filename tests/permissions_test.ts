import { assertEquals, assertMatch } from "@std/assert";
import { PROTOCOL_VERSIONS } from "../protocol/revisions.ts";
import { registeredTools, type Tool } from "../tools/mod.ts";
import { claimOf, exampleArguments, startServer } from "./_fixtures.ts";

const ignore = Deno.permissions.querySync({ name: "run" }).state !== "granted";

const DENIED = ["read", "write", "net", "env", "run", "sys", "ffi"];
const denoFlags = DENIED.map((name) => `--deny-${name}`);

const TOOLS = [...registeredTools.values()];

/** What a tool gives for its examples, as it is on the wire. */
async function textOf(tool: Tool): Promise<string> {
  const value: unknown = await tool.fn(exampleArguments(tool));
  return typeof value === "string" ? value : JSON.stringify(value);
}

function request(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

for (const protocolVersion of PROTOCOL_VERSIONS) {
  Deno.test(
    `server.ts serves ${protocolVersion} to the end when every permission is denied`,
    {
      ignore,
    },
    async () => {
      const claim = claimOf(protocolVersion);
      await using server = startServer({ denoFlags });
      await server.write(
        claim._meta !== undefined
          ? request(0, "server/discover", claim)
          : request(0, "initialize", { protocolVersion }) +
            '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
      );
      await server.write(request(1, "tools/list", claim));
      for (const [i, tool] of TOOLS.entries()) {
        const params = { name: tool.name, arguments: exampleArguments(tool) };
        await server.write(
          request(i + 2, "tools/call", { ...params, ...claim }),
        );
      }
      await server.closeInput();
      const { code, stdout, stderr } = await server.end();
      assertEquals(
        stderr,
        "INFO miniagent.server: EOF on stdin, shutting down\n",
      );
      assertEquals(code, 0);
      const [, list, ...called] = stdout.trimEnd().split("\n")
        .map((line) => JSON.parse(line).result);
      assertEquals(list.tools.length, TOOLS.length);
      assertEquals(
        called.map(({ content }) => content[0].text),
        await Promise.all(TOOLS.map(textOf)),
      );
    },
  );
}

Deno.test("server.ts fails as it should when every permission is denied", {
  ignore,
}, async () => {
  const rows = [
    { args: ["--help"], input: "", code: 0 },
    { args: ["--version"], input: "", code: 0 },
    { args: ["--nope"], input: "", code: 2 },
    { args: [], input: "hello\r\n\r\n", code: 1 },
    { args: [], input: '{"jsonrpc":"2.0","id":1,"method":"nope"}', code: 0 },
  ];
  await Promise.all(rows.map(async ({ args, input, code }) => {
    await using server = startServer({ denoFlags, args });
    if (input !== "") {
      await server.write(input);
      await server.closeInput();
    }
    const ended = await server.end();
    assertEquals(ended.code, code, args.join(" "));
    assertEquals(/NotCapable|PermissionDenied/.test(ended.stderr), false);
  }));
});

Deno.test("server.ts ends on a signal when every permission is denied", {
  ignore: ignore || Deno.build.os === "windows",
}, async () => {
  await using server = startServer({ denoFlags });
  await server.write(request(1, "ping", {}));
  await server.stdout.until(/\n/);
  server.child.kill("SIGTERM");
  const { code, stderr } = await server.end();
  assertEquals(code, 0);
  assertMatch(
    stderr,
    /INFO miniagent\.server: SIGTERM received, shutting down\n$/,
  );
});
