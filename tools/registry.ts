/**
 * What a tool is, and where it is registered. What our tools do is left
 * to their own files; serving them, to `server.ts`.
 *
 * @module
 */

import { describe, isObject } from "../protocol/jsonrpc.ts";

/** A JSON Schema, as an object: draft 7 or 2020-12. */
export type JSONSchema = Record<string, unknown>;

/** Hints for the host about what a tool does (MCP 2025-03-26 and later, schema `ToolAnnotations`). */
export interface ToolAnnotations {
  /** A name for people. */
  title?: string;
  /** Whether the tool changes nothing. */
  readOnlyHint?: boolean;
  /** Whether it may destroy what is there. */
  destructiveHint?: boolean;
  /** Whether calling it again with the same arguments changes nothing more. */
  idempotentHint?: boolean;
  /** Whether it reaches into an open world, such as the web. */
  openWorldHint?: boolean;
}

/** A picture for a tool (MCP 2025-11-25 and later, schema `Icon`). */
export interface ToolIcon {
  /** Where the picture is: an `https:` or `data:` URI. */
  src: string;
  /** Its media type. */
  mimeType?: string;
  /** Its sizes, such as `"48x48"`, or `"any"`. */
  sizes?: string[];
}

/** A function that a client can call by name (MCP schema `Tool`). */
export interface Tool {
  /** What a client calls it: 1 to 128 characters of `A-Z a-z 0-9 _ . -`. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** What its arguments must be: an object schema. */
  inputSchema: JSONSchema;
  /**
   * Do the work. Throw a `ToolError` for what the model can mend; anything
   * else that is thrown is an internal error.
   *
   * @param args The arguments, which hold to the `inputSchema`.
   * @returns A string, which is sent as it is, any other JSON value, or
   * `undefined` for nothing; or a promise of one.
   */
  // deno-lint-ignore no-explicit-any -- the schema, not the compiler, vouches for the arguments
  fn: (args: any) => unknown;
  /** A name for people. */
  title?: string;
  /** Hints for the host. */
  annotations?: ToolAnnotations;
  /** What its result holds to: an object schema, for a tool that gives objects. */
  outputSchema?: JSONSchema;
  /** Pictures for the host to show. */
  icons?: ToolIcon[];
}

/** The tools that a server offers, by name, in the order of registration. */
export const registeredTools: Map<string, Tool> = new Map();

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Add a tool to {@linkcode registeredTools}.
 *
 * @param tool The tool.
 * @throws {TypeError} If the tool has no usable name, description, `fn` or
 * object schema, or if the name is taken. Nothing is registered then.
 *
 * @example A tool of your own
 * ```ts
 * import { register, registeredTools } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * register({
 *   name: "add",
 *   description: "Add two numbers",
 *   inputSchema: {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number" } },
 *     required: ["a", "b"],
 *   },
 *   fn: ({ a, b }) => a + b,
 * });
 * assertEquals([...registeredTools.keys()], ["add"]);
 * ```
 */
export function register(tool: Tool): void {
  const { name } = tool;
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    throw new TypeError(
      `Cannot register tool ${JSON.stringify(name)}: expected a name of 1 to ` +
        "128 characters out of A-Z, a-z, 0-9, _, . and -",
    );
  }
  const { description, fn } = tool;
  const problem = registeredTools.has(name)
    ? "a tool of that name is registered already"
    : typeof description !== "string"
    ? `description is ${describe(description)}, expected a string`
    : typeof fn !== "function"
    ? `fn is ${describe(fn)}, expected a function`
    : schemaProblem("inputSchema", tool.inputSchema) ??
      (tool.outputSchema === undefined
        ? undefined
        : schemaProblem("outputSchema", tool.outputSchema));
  if (problem !== undefined) {
    throw new TypeError(`Cannot register tool "${name}": ${problem}`);
  }
  registeredTools.set(name, tool);
}

/** MCP, schema `Tool`: both schemas have `type: "object"` at their root. */
function schemaProblem(key: string, schema: unknown): string | undefined {
  if (!isObject(schema)) {
    return `${key} is ${describe(schema)}, expected {"type":"object",…}`;
  }
  const { type } = schema;
  return type === "object"
    ? undefined
    : `${key}.type is ${describe(type)}, expected "object"`;
}
