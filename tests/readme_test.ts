/** README.md says what the code says: tables are computed, examples run. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { MCPClient, revisions, ToolError } from "../mod.ts";
import { registeredTools } from "../tools/mod.ts";

const README = new URL("../README.md", import.meta.url);
const CALLS: Record<string, Record<string, string>> = {
  conjugate: { verb: "eat", tense: "past_simple", person: "3sg" },
  lookup_irregular_verb: { verb: "go" },
  lookup_spanish: { english_form: "ate" },
  check_subject_verb_agreement: { subject: "he", verb_form: "go" },
};

function canRead(): boolean {
  return Deno.permissions.querySync({ name: "read", path: README })
    .state === "granted";
}

function table(rows: string[][]): string {
  const [head = [], ...body] = rows;
  const lines = [head, head.map(() => "---"), ...body];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function toolsTable(): string {
  const rows = [...registeredTools.values()].map(
    ({ name, inputSchema, fn }) => {
      const args = CALLS[name] ?? {};
      const names = Object.keys(inputSchema["properties"] as object);
      const result = JSON.stringify(fn(args));
      return [
        `\`${name}\``,
        names.map((name) => `\`${name}\``).join(", "),
        `(${Object.values(args).join(", ")})`,
        `\`${result}\``,
      ];
    },
  );
  return table([["tool", "arguments", "example", "result"], ...rows]);
}

function revisionsTable(): string {
  const rows = [...revisions.values()];
  const row = (
    name: string,
    cell: (row: typeof rows[0]) => string,
  ): string[] => [
    name,
    ...rows.map(cell),
  ];
  const yes = (is: boolean): string => is ? "yes" : "–";
  return table([
    row("", (row) => row.protocolVersion),
    row("opened by", (row) => row.opening),
    row("framings", () => "both"),
    row("methods", (row) => [...row.methods].map((m) => `\`${m}\``).join(" ")),
    row("batches", (row) => yes(row.batches)),
    row("more of a tool", (row) => row.toolFields.join(", ") || "–"),
    row("`structuredContent`", (row) => yes(row.structuredContent)),
    row(
      "bad arguments are",
      (row) => row.invalidArguments === "error" ? "`-32602`" : "`isError`",
    ),
    row(
      "schema dialect",
      (row) => row.dialect === "7" ? "draft 7" : row.dialect,
    ),
  ]);
}

/** Cells without the padding that `deno fmt` gives them. */
function squeeze(text: string): string {
  return text.replace(/ *\| */g, "|").replace(/-{3,}/g, "---");
}

for (
  const [name, make] of [["tools", toolsTable], [
    "revisions",
    revisionsTable,
  ]] as const
) {
  Deno.test({
    name: `README.md shows the table of ${name} as the code has it`,
    ignore: !canRead(),
    fn: async () => {
      const readme = await Deno.readTextFile(README);
      assertStringIncludes(squeeze(readme), squeeze(make()));
    },
  });
}

/** README.md's servers, in its order, and what calls of them give. */
const SERVERS: [tool: string, calls: [args: object, gives: unknown][]][] = [
  ["greet", [[{ name: "Ada" }, "Hello, Ada!"], [{}, "Hello, world!"]]],
  ["divide", [[{ a: 1, b: 3 }, { quotient: 0.33 }], [
    { a: 1, b: 0 },
    ToolError,
  ]]],
];

for (const [index, [tool, calls]] of SERVERS.entries()) {
  Deno.test({
    name: `README.md's server of ${tool} serves what it says, when run`,
    ignore: !canRead() ||
      (await Deno.permissions.query({ name: "run" })).state !== "granted" ||
      (await Deno.permissions.query({ name: "write" })).state !== "granted",
    fn: () =>
      useServer(index, async (client) => {
        for (const [args, gives] of calls) {
          const value = await client.callTool(tool, { ...args })
            .catch((error) => error.constructor);
          assertEquals(value, gives);
        }
      }),
  });
}

async function useServer(
  index: number,
  use: (client: MCPClient) => Promise<void>,
): Promise<void> {
  const readme = await Deno.readTextFile(README);
  const fences = [...readme.matchAll(/```ts ignore\n([^]*?)```/g)];
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, fences[index]?.[1] ?? "");
  try {
    const config = new URL("../deno.json", import.meta.url).pathname;
    await using client = new MCPClient(
      ["deno", "run", "--no-prompt", `--config=${config}`, file],
      { onStderr: () => {}, protocolVersion: "2025-11-25" },
    );
    await client.initialize();
    await client.listTools();
    await use(client);
  } finally {
    await Deno.remove(file);
  }
}
