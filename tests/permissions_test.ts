import { assertEquals, assertMatch } from "@std/assert";
import { PROTOCOL_VERSIONS } from "../protocol/revisions.ts";
import { startServer } from "./_fixtures.ts";

const ignore = Deno.permissions.querySync({ name: "run" }).state !== "granted";

const DENIED = ["read", "write", "net", "env", "run", "sys", "ffi"];
const denoFlags = DENIED.map((name) => `--deny-${name}`);

const CALLS: [name: string, args: Record<string, string>, text: string][] = [
  ["conjugate", { verb: "eat", tense: "past_simple", person: "3sg" }, "ate"],
  ["lookup_spanish", { english_form: "ate" }, "comió"],
  ["lookup_irregular_verb", { verb: "go" }, '"past_simple":"went"'],
  [
    "check_subject_verb_agreement",
    { subject: "he", verb_form: "go" },
    '"expected":"goes"',
  ],
];

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
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": protocolVersion,
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const extra = protocolVersion === "2026-07-28" ? { _meta } : {};
      await using server = startServer({ denoFlags });
      await server.write(
        "_meta" in extra
          ? request(0, "server/discover", extra)
          : request(0, "initialize", { protocolVersion }) +
            '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
      );
      await server.write(request(1, "tools/list", extra));
      for (const [i, [name, args]] of CALLS.entries()) {
        const params = { name, arguments: args, ...extra };
        await server.write(request(i + 2, "tools/call", params));
      }
      await server.closeInput();
      const { code, stdout, stderr } = await server.end();
      assertEquals(
        stderr,
        "INFO miniagent.server: EOF on stdin, shutting down\n",
      );
      assertEquals(code, 0);
      const answers = stdout.trimEnd().split("\n").map((line) =>
        JSON.parse(line)
      );
      assertEquals(answers.map(({ id }) => id), [0, 1, 2, 3, 4, 5]);
      assertEquals(answers[1].result.tools.length, CALLS.length);
      for (const [i, [, , text]] of CALLS.entries()) {
        assertMatch(answers[i + 2].result.content[0].text, new RegExp(text));
      }
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
