/**
 * README.md says what the code says: its tables are computed, its commands and
 * examples run, and what they print is what it shows.
 *
 * `deno test -A tests/readme_test.ts -- --rewrite` makes its tables and
 * outputs what they are now; review the difference.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import * as api from "../mod.ts";
import { MCPClient, revisions, ToolError } from "../mod.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { PERSONS, TENSES, VERBS } from "../tools/_conjugation.ts";
import { registeredTools } from "../tools/mod.ts";
import {
  copyCheckout,
  type Fence,
  fences,
  outputParts,
  type Part,
  readme,
  readText,
  rewrite,
  ROOT,
  runProgram,
  section,
  squeeze,
  tablePart,
} from "./_readme.ts";
import { forgottenBounds, limitRows, sources } from "./_readme_limits.ts";

const rewriting = Deno.args.includes("--rewrite");
const ignoreText = readme === "";
const ignoreRun = ignoreText || Deno.build.os === "windows" ||
  (["run", "write"] as const).some((name) =>
    Deno.permissions.querySync({ name }).state !== "granted"
  );

/** An example call of each tool. */
const CALLS: Record<string, Record<string, string>> = {
  conjugate: { verb: "eat", tense: "past_simple", person: "3sg" },
  lookup_irregular_verb: { verb: "go" },
  lookup_spanish: { english_form: "ate" },
  check_subject_verb_agreement: { subject: "he", verb_form: "go" },
};

function toolRows(): string[][] {
  const rows = [...registeredTools.values()].map(
    ({ name, inputSchema, fn }) => {
      const args = CALLS[name] ?? {};
      const names = Object.keys(inputSchema["properties"] as object);
      return [
        `\`${name}\``,
        names.map((name) => `\`${name}\``).join(", "),
        `(${Object.values(args).join(", ")})`,
        `\`${JSON.stringify(fn(args))}\``,
      ];
    },
  );
  return [["tool", "arguments", "example", "result"], ...rows];
}

function revisionRows(): string[][] {
  const rows = [...revisions.values()];
  const row = (
    name: string,
    cell: (row: typeof rows[0]) => string,
  ): string[] => [name, ...rows.map(cell)];
  const yes = (is: boolean): string => is ? "yes" : "–";
  return [
    row("", (row) => row.protocolVersion),
    row("opened by", (row) => row.opening),
    row("framings", () => FRAMINGS.join(", ")),
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
  ];
}

/** What `--help` prints. */
function helpOf(program: string): Promise<string> {
  return runProgram(["deno", "run", "--no-prompt", ROOT + program, "--help"]);
}

/** The words and flags that `--help` explains, with their defaults. */
async function flagRows(program: string): Promise<string[][]> {
  const help = await helpOf(program);
  const entries = help.matchAll(/^ {2}(\S.*?) {2,}(.*(?:\n {4,}.*)*)/gm);
  const rows = [...entries].map(([, flag = "", text = ""]) => {
    const meaning = text.replace(/\s+/g, " ");
    const [, standard] = /\(default (.*)\)/.exec(meaning) ?? [];
    return [
      `\`${flag}\``,
      meaning.replace(/ \(default .*\)/, ""),
      standard === undefined ? "–" : standard.replace(/^[^\s;,]+/, "`$&`"),
    ];
  });
  return [[`\`${program}\``, "meaning", "default"], ...rows];
}

/** The exit codes that `--help` explains. */
async function exitCodeRows(): Promise<string[][]> {
  const programs = ["server.ts", "client.ts"];
  const columns = await Promise.all(programs.map(async (program) => {
    const help = (await helpOf(program)).replace(/\s+/g, " ");
    const [, text = ""] = /Exit codes: (.*?)\./.exec(help) ?? [];
    return new Map(
      text.split("; ").map((code) => [code.slice(0, 1), code.slice(2)]),
    );
  }));
  const codes = new Set(columns.flatMap((column) => [...column.keys()]));
  return [
    ["exit code", ...programs.map((program) => `\`${program}\``)],
    ...[...codes].map((code) => [
      code,
      ...columns.map((column) => column.get(code) ?? "–"),
    ]),
  ];
}

Deno.test("README.md tells every bound in the code, but those with a reason", {
  ignore: ignoreText,
}, () => {
  assertEquals(forgottenBounds(), [], "tell it, or say in UNTOLD why not");
});

const tables = ignoreText ? [] : [
  tablePart("The tools", toolRows),
  tablePart("Protocol", revisionRows),
  tablePart("Limits, and what it is not", limitRows),
];
const printed = ignoreText ? [] : [
  tablePart("Command line", () => flagRows("server.ts")),
  tablePart("Command line", () => flagRows("client.ts"), 1),
  tablePart("Command line", exitCodeRows, 2),
];

if (rewriting) {
  Deno.test("README.md is rewritten", { ignore: ignoreRun }, async () => {
    await using checkout = await copyExamples();
    await rewrite([...tables, ...printed, ...outputs(checkout.path)]);
  });
}

for (
  const [parts, ignore] of [[tables, ignoreText], [printed, ignoreRun]] as const
) {
  for (const part of parts) {
    Deno.test(`README.md is as the code has it: ${part.name}`, {
      ignore: ignore || rewriting,
    }, () => check(part));
  }
}

async function check({ start, end, make }: Part): Promise<void> {
  assertEquals(squeeze(readme.slice(start, end)), squeeze(await make()));
}

/** Commands that are not run here, and why. */
const NOT_RUN: Record<string, string> = {
  "npx -y deno@2.9.6 task test": "this test is part of it",
};

/** Commands that need the network, and what tries the same without. Run to rewrite. */
const NEED_NETWORK: Record<string, string> = {
  "deno run --allow-run=npx client.ts --quiet call echo message=hello -- npx -y @modelcontextprotocol/server-everything":
    "`deno task interop` meets that server",
};

Deno.test("README.md's commands print what it shows", {
  ignore: ignoreRun || rewriting,
}, async (t) => {
  await using checkout = await copyExamples();
  for (const part of outputs(checkout.path)) {
    const reason = NOT_RUN[part.name] ?? NEED_NETWORK[part.name];
    const name = part.name + (reason === undefined ? "" : ` (${reason})`);
    await t.step({
      name,
      ignore: reason !== undefined,
      fn: () => check(part),
    });
  }
});

Deno.test("README.md has each command that is not run", {
  ignore: ignoreText,
}, () => {
  const commands = fences("sh").flatMap(({ text }) => text.split("\n"));
  const listed = [NOT_RUN, NEED_NETWORK].flatMap((list) => Object.keys(list));
  assertEquals(listed.filter((command) => !commands.includes(command)), []);
});

/** The checkout, with README.md's examples saved as it says. */
async function copyExamples(): Promise<{ path: string } & AsyncDisposable> {
  const checkout = await copyCheckout();
  const [client] = fences("ts");
  const server = servers().at(-1);
  await Deno.writeTextFile(`${checkout.path}/my_client.ts`, client?.text ?? "");
  await Deno.writeTextFile(`${checkout.path}/my_server.ts`, server?.text ?? "");
  return checkout;
}

/** What the commands print, one after the other; Deno itself is not fetched by npx. */
function outputs(folder: string): Part[] {
  return outputParts(async (commands) => {
    let output = "";
    for (const command of commands) {
      if (Object.hasOwn(NOT_RUN, command)) continue;
      const own = command.replaceAll("npx -y deno@2.9.6", "deno");
      output += await runProgram(["sh", "-c", own], folder);
    }
    return output;
  });
}

function servers(): Fence[] {
  return fences("ts ignore").filter(({ text }) => text.includes("serve()"));
}

/** README.md's servers, in its order, and what calls of their tools give. */
const SERVERS: [tool: string, args: object, gives: unknown][][] = [
  [
    ["greet", { name: "Ada" }, "Hello, Ada!"],
    ["greet", {}, "Hello, world!"],
  ],
  [
    ["divide", { a: 1, b: 3 }, { quotient: 0.33 }],
    ["divide", { a: 1, b: 3, digits: 4 }, { quotient: 0.3333 }],
    ["divide", { a: 1, b: 0 }, ToolError],
    ["divide", { a: 1, b: 3, digit: 4 }, api.InvalidArgumentsError],
    ["sha256", { text: "" }, await sha256("")],
  ],
];

async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

for (const [index, calls] of SERVERS.entries()) {
  const tools = [...new Set(calls.map(([tool]) => tool))];
  Deno.test(
    `README.md's server of ${tools.join(" and ")} serves what it says`,
    {
      ignore: ignoreRun,
    },
    async () => {
      await using checkout = await copyExamples();
      const path = `${checkout.path}/server_${index}.ts`;
      await Deno.writeTextFile(path, servers()[index]?.text ?? "");
      await using client = start(["deno", "run", "--no-prompt", path]);
      await client.initialize();
      const listed = await client.listTools();
      assertEquals(listed.map(({ name }) => name), tools);
      for (const [tool, args, gives] of calls) {
        const value = await client.callTool(tool, { ...args })
          .catch((error) => error.constructor);
        assertEquals(value, gives);
      }
    },
  );
}

function start(command: string[]): MCPClient {
  return new MCPClient(command, {
    onStderr: () => {},
    protocolVersion: "2025-11-25",
  });
}

/** A server in a host's configuration. */
interface HostEntry {
  command: string;
  args?: string[];
}

/** Entries that are tried elsewhere. */
const OTHER_ENTRIES: [part: string, where: string][] = [
  ["https://", "import_by_url_test.ts"],
  ["dist/mcp-server", "compile_test.ts"],
];

for (const [name, { command, args = [] }] of ignoreText ? [] : hostEntries()) {
  const words = [command, ...args].join(" ")
    .replace("npx -y deno@2.9.6", "deno")
    .split(" ").map((word) => word.replace("/path/to/miniagent/", ROOT));
  const other = OTHER_ENTRIES.find(([part]) => words.join(" ").includes(part));
  const because = other === undefined ? "" : ` (see ${other[1]})`;
  Deno.test(`README.md's host entry ${name} starts the server${because}`, {
    ignore: ignoreRun || other !== undefined,
  }, async () => {
    await using client = start(words);
    await client.initialize();
    const tools = await client.listTools();
    assertEquals(tools.length, registeredTools.size);
  });
}

function hostEntries(): [string, HostEntry][] {
  return fences("json").flatMap(({ text }) => {
    const { mcpServers, ...others } = JSON.parse(text);
    return Object.entries<HostEntry>({ ...mcpServers, ...others });
  });
}

Deno.test("README.md counts the verbs, tenses and persons", {
  ignore: ignoreText,
}, () => {
  assertStringIncludes(
    readme.replaceAll("\n", " "),
    `${VERBS.length} verbs are in scope, in ${TENSES.length} tenses and ` +
      `${PERSONS.length} persons`,
  );
});

Deno.test("README.md names every option of MCPClient and serve()", {
  ignore: ignoreText,
}, () => {
  const text = section("Use it as a module");
  const names = ["MCPClientOptions", "ServeOptions"].flatMap((type) => {
    const start = sources.indexOf(`export interface ${type} {`);
    const body = sources.slice(start, sources.indexOf("\n}", start));
    return [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) =>
      `\`${name}\``
    );
  });
  assert(names.length > 0);
  assertEquals(names.filter((name) => !text.includes(name)), []);
});

Deno.test("README.md names classes, files, tasks and a Deno that there are", {
  ignore: ignoreText,
}, async () => {
  const classes = section("Errors").matchAll(/^\| `(\w+)`/gm);
  const files = section("Layout").match(/`[\w/]+(?:\/|\.(?:ts|md))`/g) ?? [];
  const tasks = readme.matchAll(/`deno task ([\w:]+)/g);
  const versions = readme.matchAll(/deno@([\d.]+\d)/g);
  for (const [, name = ""] of classes) assert(Object.hasOwn(api, name), name);
  for (const file of files) await Deno.stat(ROOT + file.replaceAll("`", ""));
  for (const [, task = ""] of tasks) assert(task in config.tasks, task);
  const [, ci] = /deno_version=(\S+)/.exec(await readText(".ci/run")) ?? [];
  for (const [, version] of versions) assertEquals(version, ci);
});
