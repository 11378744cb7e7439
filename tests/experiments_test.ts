/**
 * Both experiments again, in a temporary folder: the same bytes as committed.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { MessageReader, readMessage } from "../mod.ts";
import { run, temporaryFolder } from "./_fixtures.ts";

const EXPERIMENTS = `${import.meta.dirname}/../experiments`;

const SMOKE = [
  "input.bin",
  "output.bin",
  "stderr.log",
  "output.annotated.txt",
  "results.json",
];
const ROUNDTRIP = ["transcript.txt", "results.json"];

const ignore = [
  { name: "read" },
  { name: "write" },
  { name: "run" },
].some((descriptor) =>
  Deno.permissions.querySync(descriptor as Deno.PermissionDescriptor).state !==
    "granted"
);

Deno.test("31-mcp-server-smoke/manual.sh writes the committed bytes", {
  ignore: ignore || Deno.build.os === "windows",
}, async () => {
  await using folder = await temporaryFolder();
  await succeed([
    "bash",
    `${EXPERIMENTS}/31-mcp-server-smoke/manual.sh`,
    folder.path,
  ]);
  await assertCommitted("31-mcp-server-smoke", folder.path, SMOKE);
});

Deno.test("31-mcp-server-smoke/smoke.ts writes the committed bytes", {
  ignore,
}, async () => {
  await using folder = await temporaryFolder();
  await runProgram("31-mcp-server-smoke/smoke.ts", folder.path);
  await assertCommitted("31-mcp-server-smoke", folder.path, SMOKE);
});

Deno.test(
  "31-mcp-roundtrip/demo.ts writes the committed bytes, and prints the transcript",
  {
    ignore,
  },
  async () => {
    await using folder = await temporaryFolder();
    const screen = await runProgram("31-mcp-roundtrip/demo.ts", folder.path);
    await assertCommitted("31-mcp-roundtrip", folder.path, ROUNDTRIP);
    assertEquals(screen, await text("31-mcp-roundtrip/transcript.txt"));
  },
);

Deno.test("31-mcp-server-smoke holds one answer for each request, in order", {
  ignore,
}, async () => {
  const sent = await readFrames("31-mcp-server-smoke/input.bin");
  const answers = await readFrames("31-mcp-server-smoke/output.bin");
  const asked = sent.filter((message) => "id" in message);
  assertEquals(
    answers.map((answer) => Object.keys(answer)),
    asked.map(() => ["jsonrpc", "id", "result"]),
  );
  assertEquals(
    answers.map((answer) => answer["id"]),
    asked.map((request) => request["id"]),
  );
  assertEquals(await json("31-mcp-server-smoke/results.json"), {
    frames_in: sent.length,
    frames_out: answers.length,
    all_success: true,
  });
  assertEquals([sent.length, answers.length], [5, 4]);
});

Deno.test("31-mcp-server-smoke says ate and comió, and logs no error", {
  ignore,
}, async () => {
  const answers = await readFrames("31-mcp-server-smoke/output.bin");
  assertEquals(
    answers.slice(2).map((answer) => answer["result"]),
    ["ate", "comió"].map((text) => ({
      content: [{ type: "text", text }],
      isError: false,
    })),
  );
  const log = await text("31-mcp-server-smoke/stderr.log");
  assertEquals(log, "INFO miniagent.server: EOF on stdin, shutting down\n");
});

Deno.test("31-mcp-roundtrip counts what its transcript holds", {
  ignore,
}, async () => {
  const transcript = await text("31-mcp-roundtrip/transcript.txt");
  const lines = transcript.trimEnd().split("\n");
  const calls = lines.filter((line) => line.startsWith("> tools/call "));
  const list = lines[lines.indexOf("> tools/list {}") + 1] ?? "";
  assertEquals(await json("31-mcp-roundtrip/results.json"), {
    tools_discovered: JSON.parse(list.slice(2)).tools.length,
    calls_made: calls.length,
    calls_failed: lines.filter((line) => line.startsWith("< error ")).length,
    transcript_path: "transcript.txt",
  });
  assertEquals(calls.length, 4);
});

for (const name of ["31-mcp-server-smoke", "31-mcp-roundtrip"]) {
  Deno.test(
    `${name}/manifest.json hashes the committed files, and names the versions`,
    {
      ignore,
    },
    async () => {
      const { experiment, versions, seed, sha256 } = await json(
        `${name}/manifest.json`,
      );
      assertEquals([experiment, seed], [name, 42]);
      assertEquals(
        sha256,
        await hashes(name, name.endsWith("smoke") ? SMOKE : ROUNDTRIP),
      );
      assertEquals(Object.keys(versions as object), [
        ...["deno", "v8", "typescript", "protocol"],
        ...Object.keys(config.imports),
      ]);
    },
  );
}

function text(name: string): Promise<string> {
  return Deno.readTextFile(`${EXPERIMENTS}/${name}`);
}

async function json(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await text(name));
}

async function readFrames(name: string): Promise<Record<string, unknown>[]> {
  const file = await Deno.readFile(`${EXPERIMENTS}/${name}`);
  const reader = new MessageReader(new Blob([file]).stream());
  const messages: Record<string, unknown>[] = [];
  for (;;) {
    const message = await readMessage(reader);
    if (message === null) return messages;
    messages.push(message as Record<string, unknown>);
  }
}

async function hashes(
  experiment: string,
  names: string[],
): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const name of names) {
    const file = await Deno.readFile(
      `${EXPERIMENTS}/${experiment}/${name}`,
    );
    const sum = await crypto.subtle.digest("SHA-256", file);
    sums[name] = new Uint8Array(sum).toHex();
  }
  return sums;
}

/** The same files, the same bytes; of the manifest all but the versions. */
async function assertCommitted(
  experiment: string,
  folder: string,
  names: string[],
): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const written = entries.map(({ name }) => name);
  assertEquals(written.sort(), [...names, "manifest.json"].sort());
  for (const name of names) {
    assertEquals(
      await Deno.readTextFile(`${folder}/${name}`),
      await text(`${experiment}/${name}`),
      name,
    );
  }
  const manifest = JSON.parse(
    await Deno.readTextFile(`${folder}/manifest.json`),
  );
  const committed = await json(`${experiment}/manifest.json`);
  assertEquals({ ...manifest, versions: {} }, { ...committed, versions: {} });
}

/** With no more permissions than the experiment asks for. */
function runProgram(name: string, folder: string): Promise<string> {
  return succeed([
    ...["deno", "run", "--no-prompt", "--allow-run=deno"],
    ...[`--allow-read=${folder}`, `--allow-write=${folder}`],
    ...[`${EXPERIMENTS}/${name}`, folder],
  ]);
}

async function succeed(command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  assertEquals(code, 0, stderr);
  return stdout;
}
