/**
 * What a client makes of a server's results: shapes checked, values unwrapped.
 *
 * @module
 */

import { describe, ErrorCode, isObject } from "./jsonrpc.ts";
import { ProtocolError, ToolError } from "./errors.ts";
import { statelessVersions } from "./revisions.ts";

/** One piece of a tool's answer: text, an image, a resource (MCP schema `ContentBlock`). */
export interface ContentBlock {
  /** The kind of content, `"text"` for one. */
  type: string;
  /** The text, where the kind is `"text"`. */
  text?: string;
  /** Whatever else the kind has. */
  [key: string]: unknown;
}

/** What a tool call gives (MCP schema `CallToolResult`). */
export interface CallToolResult {
  /** The answer, piece by piece. */
  content: ContentBlock[];
  /** The answer as a JSON value, from a tool with an `outputSchema`. */
  structuredContent?: unknown;
  /** Whether the tool said no. */
  isError?: boolean;
  /** Whatever else the revision has. */
  [key: string]: unknown;
}

/** A tool as a server lists it (MCP schema `Tool`). */
export interface ListedTool {
  /** What to call it. */
  name: string;
  /** What it does, for the model. */
  description?: string;
  /** What its arguments must be. */
  inputSchema: Record<string, unknown>;
  /** Whatever else the revision has: `title`, `annotations`, `outputSchema`. */
  [key: string]: unknown;
}

/** What `initialize` or `server/discover` gives. */
export interface InitializeResult {
  /** The revision that the server will speak; absent from `server/discover`. */
  protocolVersion?: string;
  /** What the server offers. */
  capabilities: Record<string, unknown>;
  /** Whatever else the revision has: `serverInfo`, `instructions`. */
  [key: string]: unknown;
}

/**
 * Take a result that is an object.
 *
 * @param method What was asked.
 * @param result What came.
 * @returns The result.
 * @throws {ProtocolError} If it is no object, or not complete.
 */
export function toObject(
  method: string,
  result: unknown,
): Record<string, unknown> {
  if (!isObject(result)) {
    throw wrongResult(method, `result is ${describe(result)}`, "an object");
  }
  // MCP 2026-07-28, basic, "Results": an unknown `resultType` is invalid, an
  // absent one means "complete".
  const { resultType = "complete" } = result;
  if (resultType !== "complete") {
    throw wrongResult(
      method,
      `resultType is ${describe(resultType)}`,
      '"complete": this client gives no further input',
    );
  }
  return result;
}

/**
 * Take a page of `tools/list`.
 *
 * @param result What came.
 * @returns The tools, and the cursor of the next page if there is one.
 * @throws {ProtocolError} If the page is not of that shape.
 */
export function toToolPage(
  result: unknown,
): { tools: ListedTool[]; nextCursor: string | undefined } {
  const { tools, nextCursor = null } = toObject("tools/list", result);
  if (!Array.isArray(tools)) {
    throw wrongResult("tools/list", `tools is ${describe(tools)}`, "an array");
  }
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool["name"] !== "string") {
      throw wrongResult("tools/list", "a tool has no name", "a string");
    }
    if (!isObject(tool["inputSchema"])) {
      throw wrongResult(
        "tools/list",
        `inputSchema of ${describe(tool["name"])} is ` +
          describe(tool["inputSchema"]),
        "an object",
      );
    }
  }
  if (nextCursor !== null && typeof nextCursor !== "string") {
    throw wrongResult(
      "tools/list",
      `nextCursor is ${describe(nextCursor)}`,
      "a string",
    );
  }
  return { tools, nextCursor: nextCursor ?? undefined };
}

/**
 * Take a result of `tools/call`.
 *
 * @param result What came.
 * @returns The result, all of it.
 * @throws {ProtocolError} If its content is not an array of objects with a
 * type.
 */
export function toCallToolResult(result: unknown): CallToolResult {
  const object = toObject("tools/call", result);
  const content = object["content"] ??
    (object["structuredContent"] === undefined ? undefined : []);
  if (
    !Array.isArray(content) ||
    !content.every((block) =>
      isObject(block) && typeof block["type"] === "string" &&
      (block["type"] !== "text" || typeof block["text"] === "string")
    )
  ) {
    throw wrongResult(
      "tools/call",
      `content is ${describe(content)}`,
      "an array of content blocks",
    );
  }
  return { ...object, content };
}

/**
 * Take the value out of a result: the structured content if there is any; of
 * one text its JSON value, or the text where it is not JSON; else the content.
 *
 * @param result The result.
 * @returns The value.
 * @throws {ToolError} If the tool said no, with all its text.
 */
export function unwrap(result: CallToolResult): unknown {
  const { content, structuredContent } = result;
  const texts = content.flatMap(({ type, text }) =>
    type === "text" && text !== undefined ? text : []
  );
  if (result.isError) {
    throw new ToolError(
      texts.length > 0
        ? texts.join("\n")
        : JSON.stringify(structuredContent ?? content),
    );
  }
  if (structuredContent !== undefined) return structuredContent;
  const [text] = texts;
  if (content.length !== 1 || text === undefined) return content;
  // A tool that gives a string sends it bare: `ate` is no JSON, and means "ate".
  // To see that by its first character costs a hundredth of what an error does.
  if (!JSON_BEGINNING.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What any JSON text begins with (RFC 8259 §2, §3). */
const JSON_BEGINNING = /^[ \t\n\r]*[[{"\-\dtfn]/;

/**
 * Tell whether a result of `server/discover` names a stateless revision that is
 * spoken here.
 *
 * @param result What came.
 * @returns Whether it does.
 */
export function supportsStateless(result: Record<string, unknown>): boolean {
  const { supportedVersions } = result;
  return Array.isArray(supportedVersions) &&
    statelessVersions.some((version) => supportedVersions.includes(version));
}

/**
 * Take what a server says of itself.
 *
 * @param method What was asked.
 * @param result What came.
 * @returns The result.
 * @throws {ProtocolError} If the server offers no tools.
 */
export function withTools(
  method: string,
  result: Record<string, unknown>,
): InitializeResult {
  const { capabilities } = result;
  if (!isObject(capabilities) || !isObject(capabilities["tools"])) {
    throw new ProtocolError(
      `Cannot use the server: its answer to "${method}" offers no tools`,
      { code: ErrorCode.MethodNotFound },
    );
  }
  return { ...result, capabilities };
}

function wrongResult(
  method: string,
  came: string,
  expected: string,
): ProtocolError {
  return new ProtocolError(
    `Cannot use the answer to "${method}": ${came}, expected ${expected}`,
    { code: ErrorCode.InvalidRequest },
  );
}
