import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { ListedTool } from "../../protocol/_results.ts";
import { FRAMINGS } from "../../protocol/_framers.ts";
import { VERSION } from "../../protocol/_meta.ts";
import { PROTOCOL_VERSIONS } from "../../protocol/revisions.ts";
import { UsageError } from "../../runtime/flags.ts";
import {
  argumentsFromWords,
  toolsAsText,
  valueAsText,
} from "../../runtime/terminal.ts";
import { registeredTools } from "../../tools/mod.ts";
import { badServer, isRunning, mayRun, pathOf } from "../_clients.ts";
import { type Ran, run as runProgram } from "../_fixtures.ts";

const EAT = ["verb=eat", "tense=past_simple", "person=3sg"];

/** A tool with such properties. */
function tool(
  properties: Record<string, unknown>,
  more: Record<string, unknown> = {},
): ListedTool {
  return { name: "t", inputSchema: { properties, ...more } };
}

// ---- words to arguments

const named = { $defs: { N: { type: "integer" }, S: { enum: ["a"] } } };

const WORDS: {
  word: string;
  schema?: unknown;
  value: unknown;
}[] = [
  { word: "a=eat", schema: { type: "string" }, value: "eat" },
  { word: "a=", schema: { type: "string" }, value: "" },
  { word: "a=b=c", schema: { type: "string" }, value: "b=c" },
  { word: "a=42", schema: { type: "string" }, value: "42" },
  { word: "a=42", schema: { type: "integer" }, value: 42 },
  { word: "a=-1.5e3", schema: { type: "number" }, value: -1500 },
  { word: "a=abc", schema: { type: "number" }, value: "abc" },
  { word: "a=true", schema: { type: "boolean" }, value: true },
  { word: "a=yes", schema: { type: "boolean" }, value: "yes" },
  { word: "a=null", schema: { type: ["integer", "null"] }, value: null },
  { word: "a=5", schema: { type: ["integer", "string"] }, value: "5" },
  { word: "a=[1,2]", schema: { type: "array" }, value: [1, 2] },
  { word: 'a={"b":1}', schema: { type: "object" }, value: { b: 1 } },
  { word: "a=1", schema: { enum: [1, 2] }, value: 1 },
  { word: "a=1", schema: { enum: ["1", "2"] }, value: "1" },
  { word: "a=1", schema: { anyOf: [{ type: "integer" }] }, value: 1 },
  { word: "a=1", schema: { oneOf: [{ type: "string" }] }, value: "1" },
  { word: "a=1", schema: { $ref: "#/$defs/N" }, value: 1 },
  { word: "a=1", schema: { $ref: "#/$defs/S" }, value: "1" },
  { word: "a=1", schema: { allOf: [{ $ref: "#/$defs/S" }] }, value: "1" },
  { word: "a=1", schema: { $ref: "#/$defs/nowhere" }, value: 1 },
  { word: "a=1", schema: { anyOf: [{ $ref: "#/properties/a" }] }, value: 1 },
  { word: "a=1", schema: true, value: 1 },
  { word: "a=1", value: 1 },
  { word: "a=eat", value: "eat" },
  { word: 'a={"b":1}', value: '{"b":1}' },
];

for (const { word, schema, value } of WORDS) {
  Deno.test(`argumentsFromWords() takes ${word} for ${JSON.stringify(schema)}`, () => {
    const properties: Record<string, unknown> = schema ? { a: schema } : {};
    const args = argumentsFromWords([word], tool(properties, named));
    assertEquals(args, { a: value });
  });
}

Deno.test("argumentsFromWords() takes names of any object's members as names", () => {
  const args = argumentsFromWords(["__proto__=1", "toString=x"], tool({}));
  assertEquals(Object.entries(args), [["__proto__", 1], ["toString", "x"]]);
  assertEquals(argumentsFromWords(["a=1"], undefined), { a: 1 });
});

Deno.test("argumentsFromWords() refuses a word without a key, or with one twice", () => {
  for (const words of [["a"], ["=b"], [""], ["a=1", "a=1"]]) {
    assertThrows(() => argumentsFromWords(words, undefined), UsageError);
  }
});

// ---- tools and values to text

const SHOWN: [schema: unknown, text: string][] = [
  [{ type: "string" }, "string"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
  [{ const: "x" }, '"x"'],
  [{ type: "array", items: { type: "integer" } }, "integer[]"],
  [{ type: "array" }, "any[]"],
  [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "integer | null"],
  [{ $ref: "#/$defs/N" }, "integer"],
  [{ $ref: "#/$defs/S" }, '"a"'],
  [{}, "any"],
  [true, "any"],
  [{ type: "a\u001b[31m\u202e" }, "a\\u001b[31m\\u202e"],
];

for (const [schema, text] of SHOWN) {
  Deno.test(`toolsAsText() shows the type of ${JSON.stringify(schema)}`, () => {
    const shown = toolsAsText([tool({ a: schema }, named)]);
    assertEquals(shown, `t\n    a?: ${text}\n`);
  });
}

Deno.test("toolsAsText() shows names, descriptions, and what is required", () => {
  const one = {
    ...tool({ a: { type: "string", description: "An\n  a" }, b: {} }, {
      required: ["a"],
    }),
    description: "Does\n\nit",
  };
  const two = { name: "u", inputSchema: {} };
  assertEquals(
    toolsAsText([one, two]),
    "t\n    Does it\n    a: string\n        An a\n    b?: any\n\nu\n",
  );
  assertEquals(toolsAsText([]), "");
});

Deno.test("toolsAsText() escapes control characters wherever they come", () => {
  const evil = "\u001b]0;x\u0007";
  const shown = toolsAsText([{
    name: evil,
    description: evil,
    inputSchema: {
      properties: { [evil]: { enum: [evil], description: evil } },
    },
  }]);
  assert(!/[^\P{Cc}\n]/u.test(shown), shown);
});

Deno.test("toolsAsText() ends on a schema that has no end", () => {
  let deep: unknown = {};
  for (let i = 0; i < 50_000; i++) deep = { type: "array", items: deep };
  const self = { anyOf: [{ $ref: "#/properties/b" }] };
  const shown = toolsAsText([tool({ a: deep, b: self })]);
  assertEquals(shown, "t\n    a?: any[][][]\n    b?: any\n");
});

Deno.test("valueAsText() shows text as it is, all else as JSON, nothing that steers", () => {
  assertEquals(valueAsText("ate"), "ate\n");
  assertEquals(valueAsText("a\r\nb\tc"), "a\nb\tc\n");
  assertEquals(
    valueAsText("\u001b[1m\u009b\u202e\r"),
    "\\u001b[1m\\u009b\\u202e\\u000d\n",
  );
  assertEquals(valueAsText({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}\n');
  assertEquals(JSON.parse(valueAsText({ a: "\u009b\n" })), { a: "\u009b\n" });
});

// ---- the program

/** Run the client's command line. */
function run(
  args: string[],
  flags: string[] = ["--allow-run"],
): Promise<Ran> {
  const deno = ["deno", "run", "--quiet", "--no-prompt", ...flags];
  return runProgram([...deno, CLIENT, ...args], { limitMs: 30_000 });
}

const CLIENT = pathOf("../client.ts");

function test(name: string, use: () => Promise<unknown>): void {
  Deno.test(name, { ignore: !mayRun }, async () => void await use());
}

/** What the server says at its end. */
const SERVER_END =
  "[server] INFO miniagent.server: EOF on stdin, shutting down\n";

const RUNS: {
  args: string[];
  flags?: string[];
  code: number;
  stdout: RegExp;
  stderr: RegExp;
}[] = [
  {
    args: ["--help"],
    flags: [],
    code: 0,
    stdout: /^List and call the tools of any MCP server\.\n[^]*Exit codes: 0 /,
    stderr: /^$/,
  },
  {
    args: ["-h", "nonsense"],
    flags: [],
    code: 0,
    stdout: /^List and call/,
    stderr: /^$/,
  },
  {
    args: ["--version"],
    flags: [],
    code: 0,
    stdout: new RegExp(`^miniagent-client ${VERSION}\n$`),
    stderr: /^$/,
  },
  {
    args: ["list", "--quiet"],
    flags: ["--allow-run=deno"],
    code: 0,
    stdout: /^conjugate\n {4}[^]*\n {4}person: "1sg" \| "2sg" \| "3sg"\n/,
    stderr: /^$/,
  },
  {
    args: ["call", "conjugate", ...EAT],
    flags: ["--allow-run=deno"],
    code: 0,
    stdout: /^ate\n$/,
    stderr: /^\[server\] INFO miniagent\.server: EOF on stdin/,
  },
  {
    args: ["call", "lookup_irregular_verb", "verb=go", "--quiet"],
    code: 0,
    stdout: /^\{\n {2}"infinitive": "go",\n/,
    stderr: /^$/,
  },
  {
    args: [
      "call",
      "conjugate",
      "--quiet",
      "--json",
      '{"verb":"go","tense":"past_simple","person":"1sg"}',
    ],
    code: 0,
    stdout: /^went\n$/,
    stderr: /^$/,
  },
  {
    args: ["--raw", "--quiet", "call", "conjugate", ...EAT],
    code: 0,
    stdout: /^\{\n {2}"content": \[[^]*"isError": false\n\}\n$/,
    stderr: /^$/,
  },
  ...FRAMINGS.map((framing) => ({
    args: ["--framing", framing, "--quiet", "call", "conjugate", ...EAT],
    code: 0,
    stdout: /^ate\n$/,
    stderr: /^$/,
  })),
  ...[...PROTOCOL_VERSIONS, "auto"].map((protocol) => ({
    args: [`--protocol=${protocol}`, "--quiet", "call", "conjugate", ...EAT],
    code: 0,
    stdout: /^ate\n$/,
    stderr: /^$/,
  })),
  {
    args: ["call", "conjugate", "verb=run", ...EAT.slice(1), "--quiet"],
    code: 1,
    stdout: /^$/,
    stderr: /^.*"run".*\n$/,
  },
  {
    args: [
      "call",
      "conjugate",
      "verb=run",
      ...EAT.slice(1),
      "--quiet",
      "--raw",
    ],
    code: 1,
    stdout: /"isError": true\n\}\n$/,
    stderr: /^$/,
  },
  ...[
    { args: [], says: 'Command is missing, expected "list" or "call"' },
    { args: ["lst"], says: 'Command is "lst", expected' },
    { args: ["call"], says: 'Tool is missing: expected "call TOOL key=value' },
    { args: ["list", "x"], says: 'Unexpected argument "x"' },
    { args: ["list", "--nope"], says: 'Unknown flag "--nope"' },
    { args: ["list", "--timeout"], says: "Flag --timeout needs a value" },
    { args: ["list", "--timeout", "0"], says: "a whole number, at least 1" },
    { args: ["list", "--timeout", "2147483648"], says: "at most 2147483647" },
    { args: ["list", "--framing", "lsp"], says: "one of content-length, newl" },
    { args: ["list", "--protocol", "1"], says: "one of 2024-11-05, " },
    { args: ["list", "--json=[]"], says: "a JSON object" },
    { args: ["list", "--json", "{"], says: "a JSON object" },
    { args: ["call", "t", "a=1", "--json={}"], says: "--json gives all" },
    { args: ["call", "t", "deno", "run"], says: "-- before the server's" },
    { args: ["call", "t", "=1"], says: 'Argument is "=1", expected key=value' },
    { args: ["call", "t", "a=1", "a=2"], says: 'Argument "a" is given twice' },
  ].map(({ args, says }) => ({
    args,
    flags: [],
    code: 2,
    stdout: /^$/,
    stderr: new RegExp(`^.*${RegExp.escape(says)}.*\nTry --help\n$`),
  })),
  {
    args: ["call", "conjugate", "verb=eat", "tense=past", "--quiet"],
    code: 3,
    stdout: /^$/,
    stderr: /^Cannot call tool "conjugate": .*\/person: missing.*\n$/,
  },
  {
    args: ["call", "nope", "--quiet"],
    code: 3,
    stdout: /^$/,
    stderr: /^Unknown tool: 'nope' \(-32602\)\n$/,
  },
  {
    args: ["list", "--", "no-such-program"],
    code: 4,
    stdout: /^$/,
    stderr: /^Cannot start "no-such-program": .*not found\n$/,
  },
  {
    args: ["list", "--", "sh -c cat"],
    code: 4,
    stdout: /^$/,
    stderr: /^Cannot start "sh -c cat": .*; the program and each of its .*\n$/,
  },
  {
    args: ["list", "--", "sh"],
    flags: ["--allow-run=deno"],
    code: 4,
    stdout: /^$/,
    stderr: /^Cannot start "sh": Requires .*; --allow-run=sh is enough\n$/,
  },
  {
    args: ["list", "--", "sh", "-c", "echo no key >&2; exit 3"],
    code: 4,
    stdout: /^$/,
    stderr:
      /^(\[server\] no key\n){2}Cannot complete "initialize": server "sh" exited with code 3; its last stderr lines are "no key"\n$/,
  },
  {
    args: ["list", "--log-level=ERROR", "--", "sh", "-c", "exit 3"],
    code: 4,
    stdout: /^$/,
    stderr:
      /^Cannot complete "initialize": server "sh" exited with code 3;.*\n$/,
  },
  {
    args: ["list", "--", "sh", "-c", 'read -r line; echo "$line" >&2'],
    code: 4,
    stdout: /^$/,
    stderr: /^\[server\] \{"jsonrpc":"2\.0","id":0,"method":"server\/discover"/,
  },
  {
    args: ["list", "--timeout=30", "--", "sh", "-c", "exec cat >/dev/null"],
    code: 4,
    stdout: /^$/,
    stderr: /^Cannot complete "initialize": no answer came within 30 ms, nor/,
  },
];

for (const { args, flags, code, stdout, stderr } of RUNS) {
  test(`client.ts exits with ${code}: ${args.join(" ") || "no arguments"}`, async () => {
    const ran = await run(args, flags);
    assertMatch(ran.stdout, stdout);
    assertMatch(ran.stderr, stderr);
    assertEquals(ran.code, code);
  });
}

test("client.ts prints the tools as the server sent them with --raw", async () => {
  const { stdout, stderr } = await run(["list", "--raw"]);
  const names = JSON.parse(stdout).map(({ name }: { name: string }) => name);
  assertEquals(names, [...registeredTools.keys()]);
  assertEquals(stderr, SERVER_END);
});

test("client.ts sends key=value as the type that the tool's schema wants", async () => {
  const properties = {
    messages: { type: "array" },
    text: { type: "string" },
    count: { type: "integer" },
    flag: { type: "boolean" },
  };
  const required = Object.keys(properties);
  const inputSchema = { type: "object", properties, required };
  const { command } = badServer("list-of", {
    tools: [{ name: "send", inputSchema }],
  });
  const messages = [{ id: "ID", result: { content: [] } }];
  const words = [`messages=${JSON.stringify(messages)}`, "text=5", "count=5"];
  const call = ["call", "send", ...words, "flag=true", "--quiet"];
  const ran = await run([...call, "--", ...command]);
  assertEquals(ran, { code: 0, stdout: "[]\n", stderr: "" });
});

test("client.ts speaks lines, and any revision, to another server", async () => {
  const { command, mark } = badServer("stateless-only");
  const { code, stdout } = await run(["list", "--", ...command]);
  assertEquals({ code, stdout }, {
    code: 0,
    stdout: "send\n    Send messages\n",
  });
  assertEquals(await isRunning(mark), false);
});

test("client.ts shows nothing of a hostile server that steers a terminal", async () => {
  const evil = "\u001b[2J\u009b1m\u202e\r";
  const isSafe = (ran: Ran): void => {
    assert(!/[^\P{Cc}\n]|\u202e/u.test(ran.stdout + ran.stderr), ran.stderr);
    assertStringIncludes(ran.stdout + ran.stderr, "\\u001b[2J");
  };
  const tools = [{ name: evil, description: evil, inputSchema: {} }];
  const lists = badServer("list-of", { tools });
  for (const flags of [[], ["--raw"]]) {
    isSafe(await run(["list", ...flags, "--", ...lists.command]));
  }
  const content = [{ type: "text", text: evil }];
  for (
    const message of [
      { id: "ID", result: { content } },
      { id: "ID", result: { content, isError: true } },
      { id: "ID", error: { code: 1, message: evil } },
      { id: evil, result: {} },
    ]
  ) {
    const json = JSON.stringify({ messages: [message] });
    const call = ["call", "send", "--json", json, "--"];
    isSafe(await run([...call, ...badServer("good").command]));
  }
  const stderr = ["sh", "-c", "printf '\\033[2J\\r%s\\n' \"$0\" >&2", evil];
  isSafe(await run(["list", "--", ...stderr]));
});

for (const reader of ["head -c 1 >&2", "true"]) {
  test(`client.ts gives no stack when its stdout is read by ${reader}`, async () => {
    const script =
      `set -o pipefail; deno run --quiet --no-prompt --allow-run "$0" list ` +
      `--quiet | ${reader}`;
    const { code, stderr } = await runProgram(["bash", "-c", script, CLIENT]);
    assertEquals({ code, stderr }, {
      code: 0,
      stderr: reader === "true" ? "" : "c",
    });
  });
}

test("client.ts exits with 4 when its stdout cannot be written", async () => {
  const script = 'deno run --quiet --allow-run "$0" list --quiet >/dev/full';
  const { code, stderr } = await runProgram(["sh", "-c", script, CLIENT]);
  assertMatch(stderr, /^Cannot write to stdout: .*\n$/);
  assertEquals(code, 4);
});
