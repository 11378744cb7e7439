/**
 * What the client's command line reads and prints: words to arguments, tools to
 * text for a person.
 *
 * @module
 */

import { ErrorCode, isObject } from "../protocol/jsonrpc.ts";
import {
  InvalidArgumentsError,
  messageOf,
  ProtocolError,
  ToolError,
  TransportError,
} from "../protocol/errors.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import { VERSION } from "../protocol/_meta.ts";
import {
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
} from "../protocol/revisions.ts";
import {
  type CallToolResult,
  type ListedTool,
  unwrap,
} from "../protocol/_results.ts";
import type { Framing } from "../framing.ts";
import { MAX_TIMEOUT_MS } from "./client_options.ts";
import { oneOf, parseFlags, positiveInteger, UsageError } from "./flags.ts";
import {
  flushStderr,
  LOG_LEVELS,
  type LogLevel,
  printable,
  writeStderr,
} from "./log.ts";

const CLIENT_USAGE = `List and call the tools of any MCP server.

Usage: deno run --allow-run=deno client.ts [options] list [-- COMMAND…]
       deno run --allow-run=deno client.ts [options] call TOOL key=value… [-- COMMAND…]

Without a COMMAND it drives the server beside it, in Content-Length framing. To
start another program, allow that: --allow-run=npx, for one.

  list                     show the tools: name, what each does, arguments
  call TOOL key=value…     call a tool; values are taken as what its schema
                           wants: text, numbers, true and false, JSON

Options:
  --json '{…}'             the arguments as one JSON object
  --raw                    print JSON: the tools, or the whole result
  --framing FRAMING        ${FRAMINGS.join(" or ")} (default newline with a
                           COMMAND, else content-length)
  --protocol VERSION       ${PROTOCOL_VERSIONS.join(", ")}
                           or auto (default auto with a COMMAND, else
                           ${PROTOCOL_VERSIONS[0]})
  --timeout MS             wait this long for each answer (default 60000)
  --quiet                  do not show what the server writes to its stderr
  --log-level LEVEL        lowest level logged: ${LOG_LEVELS.join(", ")}
                           (default WARNING)
  --help, -h               print this and exit
  --version                print the version and exit

Exit codes: 0 success; 1 the tool said no; 2 usage; 3 the arguments fail the
schema, or the server refused or broke the protocol; 4 the server could not be
started, is gone, or did not answer.

Examples:
  client.ts call conjugate verb=eat tense=past_simple person=3sg
  client.ts list -- npx -y @modelcontextprotocol/server-everything
`;

/** What the command line needs of a client. */
export interface CommandLineClient extends AsyncDisposable {
  /** Opens the session. */
  initialize: () => Promise<unknown>;
  /** Lists the tools. */
  listTools: () => Promise<ListedTool[]>;
  /** Calls a tool. */
  callToolRaw: (
    name: string,
    args: Record<string, unknown>,
  ) => Promise<CallToolResult>;
}

/** What the command line says of a client. */
export interface CommandLineOptions {
  /** The framing that the server speaks. */
  framing: Framing;
  /** The revision to speak. */
  protocolVersion: ProtocolVersion | "auto" | undefined;
  /** How long to wait for an answer, in milliseconds. */
  requestTimeoutMs: number | undefined;
  /** The lowest level to log. */
  logLevel: LogLevel;
  /** Hears the server's stderr. */
  onStderr: ((line: string) => void) | undefined;
}

/** Starts the server of a command, `undefined` for the one beside the client. */
export type StartClient = (
  command: readonly string[] | undefined,
  options: CommandLineOptions,
) => CommandLineClient;

/**
 * Run the client's command line.
 *
 * @param args The program's arguments.
 * @param start Starts a client.
 * @returns The exit code.
 */
export async function runCommandLine(
  args: readonly string[],
  start: StartClient,
): Promise<number> {
  let code: number;
  try {
    code = await runTask(parseTask(args), start);
  } catch (error) {
    code = exitCode(error);
    const text = messageOf(error) + codeOf(error);
    writeStderr(`${text.split("\n").map(printable).join("\n")}\n`);
    if (code === 2) writeStderr("Try --help\n");
  }
  await flushStderr(FLUSH_MS);
  return code;
}

/** How long a reader of stderr may keep us at the end, in milliseconds. */
const FLUSH_MS = 500;

/** The code of a refusal: the message alone may say little, such as "Internal error". */
function codeOf(error: unknown): string {
  return error instanceof ProtocolError &&
      !(error instanceof InvalidArgumentsError)
    ? ` (${error.code})`
    : "";
}

function exitCode(error: unknown): number {
  if (error instanceof ToolError) return 1;
  if (error instanceof UsageError) return 2;
  if (error instanceof ProtocolError) return 3;
  if (error instanceof TransportError) return 4;
  throw error; // not reached: a fault of ours
}

async function runTask(task: Task, start: StartClient): Promise<number> {
  const { flags, tool, words, command } = task;
  if (flags.has("help")) return await print(CLIENT_USAGE);
  if (flags.has("version")) return await print(`miniagent-client ${VERSION}\n`);
  await using client = start(command, optionsFrom(flags, command));
  await client.initialize();
  const tools = await client.listTools();
  const raw = flags.has("raw");
  if (tool === undefined) {
    return await print(
      shown(() => raw ? valueAsText(tools) : toolsAsText(tools)),
    );
  }
  const args = flags.get("json") as Record<string, unknown> ??
    argumentsFromWords(words, tools.find(({ name }) => name === tool));
  const result = await client.callToolRaw(tool, args);
  const value = raw ? result : unwrap(result);
  await print(shown(() => valueAsText(value)));
  return result.isError ? 1 : 0;
}

/** JSON can be read that is nested deeper than it can be written. */
function shown(text: () => string): string {
  try {
    return text();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause; // not reached: ours
    throw new ProtocolError("Cannot show the answer: it is nested too deep", {
      code: ErrorCode.InvalidRequest,
      cause,
    });
  }
}

/** Most servers speak lines and some revision; ours every framing and all of them. */
function optionsFrom(
  flags: ReadonlyMap<string, unknown>,
  command: readonly string[] | undefined,
): CommandLineOptions {
  const isOther = command !== undefined;
  return {
    framing: flags.get("framing") as Framing ??
      (isOther ? "newline" : "content-length"),
    protocolVersion: flags.get("protocol") as ProtocolVersion | "auto" ??
      (isOther ? "auto" : undefined),
    requestTimeoutMs: flags.get("timeout") as number | undefined,
    logLevel: flags.get("log-level") as LogLevel ?? "WARNING",
    onStderr: flags.has("quiet") ? () => {} : undefined,
  };
}

/** A reader that went away, such as `head`, has what it wanted. */
async function print(text: string): Promise<number> {
  try {
    await new Blob([text]).stream().pipeTo(Deno.stdout.writable, {
      preventClose: true,
    });
  } catch (cause) {
    if (cause instanceof Deno.errors.BrokenPipe) return 0;
    throw new TransportError(`Cannot write to stdout: ${cause}`, { cause });
  }
  return 0;
}

/** What the command line asks for. */
interface Task {
  /** The flags that were given. */
  flags: ReadonlyMap<string, unknown>;
  /** The tool to call, `undefined` to list them. */
  tool: string | undefined;
  /** The arguments, as words. */
  words: readonly string[];
  /** The server to start, `undefined` for the one beside the client. */
  command: readonly string[] | undefined;
}

function parseTask(args: readonly string[]): Task {
  const { flags, words: [verb, ...words], rest } = parseFlags(
    args,
    new Map([
      ["json", { parse: jsonObject }],
      ["raw", {}],
      ["framing", { parse: oneOf(FRAMINGS) }],
      ["protocol", { parse: oneOf([...PROTOCOL_VERSIONS, "auto"]) }],
      ["timeout", { parse: milliseconds }],
      ["quiet", {}],
      ["log-level", { parse: oneOf(LOG_LEVELS) }],
      ["help", {}],
      ["version", {}],
    ]),
  );
  const tool = verb === "call" ? words.shift() : undefined;
  if (!flags.has("help") && !flags.has("version")) {
    checkWords(verb, tool, words, flags);
  }
  const command = rest !== undefined && rest.length > 0 ? rest : undefined;
  return { flags, tool, words, command };
}

function checkWords(
  verb: string | undefined,
  tool: string | undefined,
  words: readonly string[],
  flags: ReadonlyMap<string, unknown>,
): void {
  if (verb !== "list" && verb !== "call") {
    const came = verb === undefined ? "missing" : JSON.stringify(verb);
    throw new UsageError(`Command is ${came}, expected "list" or "call"`);
  }
  if (verb === "call" && tool === undefined) {
    throw new UsageError('Tool is missing: expected "call TOOL key=value…"');
  }
  const [extra] = words;
  if (extra !== undefined && (verb === "list" || flags.has("json"))) {
    throw new UsageError(
      `Unexpected argument ${JSON.stringify(extra)}` +
        (verb === "list" ? "" : ": --json gives all arguments"),
    );
  }
  splitArguments(words); // before a server is started for nothing
}

function milliseconds(text: string): number {
  const value = positiveInteger(text);
  if (value > MAX_TIMEOUT_MS) throw new UsageError(`at most ${MAX_TIMEOUT_MS}`);
  return value;
}

function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError("a JSON object", { cause: error });
  }
  if (!isObject(value)) throw new UsageError("a JSON object");
  return value;
}

/**
 * Turn words of the form `key=value` into arguments. A value is taken as what
 * the tool's schema wants there: text, a number, a boolean, or JSON.
 *
 * @param words The words.
 * @param tool The tool, if it is known.
 * @returns The arguments.
 * @throws {UsageError} If a word has no `=`, or a key comes twice.
 */
export function argumentsFromWords(
  words: readonly string[],
  tool: ListedTool | undefined,
): Record<string, unknown> {
  const root = tool?.inputSchema;
  const properties = root?.["properties"];
  const args = new Map<string, unknown>();
  for (const [key, text] of splitArguments(words)) {
    const schema = isObject(properties) && Object.hasOwn(properties, key)
      ? properties[key]
      : undefined;
    const types = typesOf(schema, root);
    args.set(key, valueFromText(text, types));
  }
  return Object.fromEntries(args);
}

function splitArguments(words: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw new UsageError(
        `Argument is ${JSON.stringify(word)}, expected key=value, or -- ` +
          "before the server's command",
      );
    }
    const key = word.slice(0, equals);
    if (texts.has(key)) {
      throw new UsageError(`Argument ${JSON.stringify(key)} is given twice`);
    }
    texts.set(key, word.slice(equals + 1));
  }
  return texts;
}

/** Text stays text where the schema takes text; what is not JSON stays for the schema to refuse. */
function valueFromText(text: string, types: readonly string[]): unknown {
  if (types.includes("string")) return text;
  try {
    const value: unknown = JSON.parse(text);
    return types.length > 0 || typeof value !== "object" ? value : text;
  } catch {
    return text;
  }
}

/** The types that a schema names, directly or in its alternatives; none if any may come. */
function typesOf(
  given: unknown,
  root: unknown,
  levels: number = MAX_LEVELS,
): string[] {
  const schema = resolve(given, root);
  if (!isObject(schema) || levels === 0) return [];
  const { type, enum: values, anyOf, oneOf: one, allOf } = schema;
  if (type !== undefined) return [type].flat().map(String);
  if (Array.isArray(values)) return values.map((value) => typeof value);
  const alternatives = anyOf ?? one ?? allOf;
  return Array.isArray(alternatives)
    ? alternatives.flatMap((schema) => typesOf(schema, root, levels - 1))
    : [];
}

/** How deep a schema is looked into: it may have no end. */
const MAX_LEVELS = 3;

/** Follow a `$ref` within the schema: named types are often written so. */
function resolve(schema: unknown, root: unknown): unknown {
  const { $ref } = isObject(schema) ? schema : {};
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) return schema;
  return $ref.slice(2).split("/").reduce(
    (part, name) =>
      isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined,
    root,
  );
}

/**
 * Show tools to a person: name, what it does, arguments with types and enums.
 *
 * @param tools The tools.
 * @returns Lines, without control characters that the server sent.
 */
export function toolsAsText(tools: readonly ListedTool[]): string {
  return tools.map(toolAsText).join("\n");
}

function toolAsText(tool: ListedTool): string {
  const { inputSchema, description = "" } = tool;
  const properties = isObject(inputSchema["properties"])
    ? Object.entries(inputSchema["properties"])
    : [];
  const required = inputSchema["required"];
  const lines = properties.map(([name, schema]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    const text = isObject(schema) ? schema["description"] : undefined;
    return `    ${printable(name)}${isRequired ? "" : "?"}: ` +
      printable(typeAsText(schema, inputSchema)) +
      (typeof text === "string" ? `\n        ${printable(oneLine(text))}` : "");
  });
  const about = description === ""
    ? []
    : [`    ${printable(oneLine(description))}`];
  return [printable(tool.name), ...about, ...lines].join("\n") + "\n";
}

function typeAsText(
  given: unknown,
  root: unknown,
  levels: number = MAX_LEVELS,
): string {
  const schema = resolve(given, root);
  if (!isObject(schema) || levels === 0) return "any";
  if (Array.isArray(schema["enum"])) {
    return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  }
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const types = typesOf(schema, root).map((type) =>
    type === "array"
      ? `${typeAsText(schema["items"], root, levels - 1)}[]`
      : type
  );
  return types.length > 0 ? [...new Set(types)].join(" | ") : "any";
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * Show a tool's value to a person: text as it is, all else as indented JSON.
 *
 * @param value The value.
 * @returns Lines, without control characters that the server sent.
 */
export function valueAsText(value: unknown): string {
  const text = typeof value === "string"
    ? value
    : JSON.stringify(value, undefined, 2);
  return text.split(/\r?\n/).map(printable).join("\n") + "\n";
}
