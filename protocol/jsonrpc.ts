/**
 * The words of JSON-RPC 2.0: message types, the error-code table, telling
 * request, notification and response apart, and building answers.
 *
 * What a method means is left to `server.ts` and `client.ts`; how a message
 * becomes bytes, to `framing.ts`.
 *
 * @module
 */

/** The identifier of a request: echoed with its JSON type, `1` and `"1"` differ (JSON-RPC 2.0 §4). */
export type RequestId = string | number;

/** A call that is answered exactly once (JSON-RPC 2.0 §4). */
export interface JSONRPCRequest {
  /** The protocol's version. */
  jsonrpc: "2.0";
  /** What the answer will carry. */
  id: RequestId;
  /** The method to call. */
  method: string;
  /** The method's parameters. */
  params?: unknown;
}

/** A message that is never answered (JSON-RPC 2.0 §4.1). */
export interface JSONRPCNotification {
  /** The protocol's version. */
  jsonrpc: "2.0";
  /** What happened. */
  method: string;
  /** The details. */
  params?: unknown;
}

/** The error member of an answer (JSON-RPC 2.0 §5.1). */
export interface JSONRPCError {
  /** One of {@linkcode ErrorCode}, or the peer's own. */
  code: number;
  /** One sentence for a person. */
  message: string;
  /** Whatever the peer adds. */
  data?: unknown;
}

/** An answer: exactly one of `result` and `error` (JSON-RPC 2.0 §5). */
export interface JSONRPCResponse {
  /** The protocol's version. */
  jsonrpc: "2.0";
  /** The request's id, `null` where it could not be read. */
  id: RequestId | null;
  /** What the method gave. */
  result?: unknown;
  /** Why it gave nothing. */
  error?: JSONRPCError;
}

/** Any message that one side writes to the other. */
export type JSONRPCMessage =
  | JSONRPCRequest
  | JSONRPCNotification
  | JSONRPCResponse;

/**
 * Every error code that this project sends, by name.
 *
 * The first five are JSON-RPC's own (JSON-RPC 2.0 §5.1 "Error object"); the
 * last is MCP's (revision 2026-07-28, `schema.ts`
 * `UnsupportedProtocolVersionError`).
 */
export const ErrorCode = {
  /** "Invalid JSON was received by the server." JSON-RPC 2.0 §5.1 */
  ParseError: -32700,
  /** "The JSON sent is not a valid Request object." JSON-RPC 2.0 §5.1 */
  InvalidRequest: -32600,
  /** "The method does not exist / is not available." JSON-RPC 2.0 §5.1 */
  MethodNotFound: -32601,
  /** "Invalid method parameter(s)." JSON-RPC 2.0 §5.1 */
  InvalidParams: -32602,
  /** "Internal JSON-RPC error." JSON-RPC 2.0 §5.1 */
  InternalError: -32603,
  /** The request names a revision that is not served. MCP 2026-07-28 */
  UnsupportedProtocolVersion: -32022,
} as const;

/** One of the codes in the table {@linkcode ErrorCode}. */
export type ErrorCode = typeof ErrorCode[keyof typeof ErrorCode];

/** What {@linkcode classifyMessage} says of a value. */
export type ClassifiedMessage =
  | { kind: "request"; message: JSONRPCRequest }
  | { kind: "notification"; message: JSONRPCNotification }
  | { kind: "response"; message: JSONRPCResponse }
  | { kind: "invalid"; id: RequestId | null; reason: string };

/**
 * Tell what kind of message a JSON value is.
 *
 * A value with a string `method` is a request if it has an `id` and a
 * notification if not; one without `method` but with `result` or `error` is a
 * response; all else is invalid. `params` come back as they are; `null` counts
 * as absent.
 *
 * @param value Any JSON value but an array: a batch is classified entry by
 * entry.
 * @returns The message under its kind, or why it is none, with the id that an
 * error response must carry.
 *
 * @example A request, a notification, and neither
 * ```ts
 * import { classifyMessage } from "@miniagent/mcp/jsonrpc";
 * import { assertEquals } from "@std/assert";
 *
 * const ping = { jsonrpc: "2.0", id: 0, method: "ping" };
 * assertEquals(classifyMessage(ping).kind, "request");
 * assertEquals(classifyMessage({ jsonrpc: "2.0", method: "x" }).kind, "notification");
 * assertEquals(classifyMessage({ id: 1, method: "ping" }), {
 *   kind: "invalid",
 *   id: 1,
 *   reason: 'member "jsonrpc" is missing, expected "2.0"',
 * });
 * ```
 */
export function classifyMessage(value: unknown): ClassifiedMessage {
  if (!isObject(value)) {
    return invalid(null, `value is ${describe(value)}, expected an object`);
  }
  const { id, method } = value;
  const hasId = Object.hasOwn(value, "id");
  const readableId = isRequestId(id) ? id : null;
  if (value["jsonrpc"] !== "2.0") {
    return invalid(
      readableId,
      `member "jsonrpc" is ${member(value, "jsonrpc")}, expected "2.0"`,
    );
  }
  if (typeof method !== "string") {
    if (
      method === undefined &&
      (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"))
    ) {
      return { kind: "response", message: value as unknown as JSONRPCResponse };
    }
    return invalid(
      readableId,
      `member "method" is ${member(value, "method")}, expected a string`,
    );
  }
  if (!hasId) {
    return {
      kind: "notification",
      message: value as unknown as JSONRPCNotification,
    };
  }
  if (readableId === null) {
    return invalid(
      null,
      `member "id" is ${describe(id)}, expected a string or a finite number, ` +
        "safe where it is whole",
    );
  }
  const { params } = value;
  if (typeof params !== "object" && params !== undefined) {
    return invalid(
      readableId,
      `member "params" is ${describe(params)}, expected an object`,
    );
  }
  return { kind: "request", message: value as unknown as JSONRPCRequest };
}

/**
 * Build the answer to a request that succeeded.
 *
 * @param id The request's id.
 * @param result What the method gave.
 * @returns The response, its keys in the order of the wire.
 *
 * @example
 * ```ts
 * import { resultResponse } from "@miniagent/mcp/jsonrpc";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   JSON.stringify(resultResponse(0, {})),
 *   '{"jsonrpc":"2.0","id":0,"result":{}}',
 * );
 * ```
 */
export function resultResponse(
  id: RequestId,
  result: unknown,
): JSONRPCResponse {
  return { jsonrpc: "2.0", id, result };
}

/**
 * Build the answer to a request that failed.
 *
 * @param id The request's id, `null` where it could not be read.
 * @param error The code, the message and, if there is any, the data.
 * @returns The response, its keys in the order of the wire.
 *
 * @example
 * ```ts
 * import { ErrorCode, errorResponse } from "@miniagent/mcp/jsonrpc";
 * import { assertEquals } from "@std/assert";
 *
 * const error = { code: ErrorCode.InternalError, message: "Internal error" };
 * assertEquals(
 *   JSON.stringify(errorResponse(null, error)),
 *   '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}',
 * );
 * ```
 */
export function errorResponse(
  id: RequestId | null,
  error: JSONRPCError,
): JSONRPCResponse {
  const { code, message, data } = error;
  return {
    jsonrpc: "2.0",
    id,
    error: data === undefined ? { code, message } : { code, message, data },
  };
}

/**
 * Tell whether a value is a JSON object: neither `null` nor an array.
 *
 * @param value Any value.
 * @returns Whether it is an object with members.
 *
 * @example
 * ```ts
 * import { isObject } from "@miniagent/mcp/jsonrpc";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([{}, [], null, "{}"].map(isObject), [true, false, false, false]);
 * ```
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Name a JSON value in an error message: its JSON if it is short.
 *
 * @param value Any value.
 * @returns Its JSON, or its kind; of a string at most its first 80 characters.
 * No character is below U+0020.
 *
 * @example
 * ```ts
 * import { describe } from "@miniagent/mcp/jsonrpc";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(describe("run"), '"run"');
 * assertEquals(describe({ a: 1 }), "an object");
 * ```
 */
export function describe(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value === undefined) return "missing";
  if (typeof value === "string") {
    return value.length <= MAX_QUOTED_CHARACTERS
      ? JSON.stringify(value)
      : `${JSON.stringify(value.slice(0, MAX_QUOTED_CHARACTERS))}… ` +
        `(${value.length} characters)`;
  }
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/** How much of a foreign string an error message repeats. */
const MAX_QUOTED_CHARACTERS = 80;

function member(value: Record<string, unknown>, name: string): string {
  return Object.hasOwn(value, name) ? describe(value[name]) : "missing";
}

/** A whole number past 2^53 has lost digits in `JSON.parse`: its echo would be another id. */
function isRequestId(id: unknown): id is RequestId {
  if (typeof id === "string") return true;
  return typeof id === "number" && Number.isFinite(id) &&
    (Number.isSafeInteger(id) || !Number.isInteger(id));
}

function invalid(id: RequestId | null, reason: string): ClassifiedMessage {
  return { kind: "invalid", id, reason };
}
