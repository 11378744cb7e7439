/**
 * The whole family of errors that a caller can catch, the same at both ends.
 *
 * | class | means | the caller may |
 * |---|---|---|
 * | {@linkcode ToolError} | the tool said no | mend the arguments and call again |
 * | {@linkcode ProtocolError} | the peer said no, or broke the protocol | read the code |
 * | {@linkcode InvalidArgumentsError} | the arguments fail the tool's schema | mend the arguments |
 * | {@linkcode TransportError} | the bytes or the process failed | start a new client |
 * | {@linkcode FramingError} | the stream is not framed | nothing: the stream is lost |
 *
 * Misuse by the programmer is none of these, but a `TypeError` or `RangeError`.
 *
 * @module
 */

import { ErrorCode } from "./jsonrpc.ts";

/**
 * The tool said no, and its message is for the model: recoverable.
 *
 * A tool throws it; it travels as a result with `isError: true`; `callTool`
 * throws it again at the other end.
 *
 * @example A tool that refuses
 * ```ts
 * import { ToolError } from "@miniagent/mcp";
 * import { assertThrows } from "@std/assert";
 *
 * function halve({ n }: { n: number }): number {
 *   if (n % 2 !== 0) throw new ToolError(`Cannot halve ${n}: expected an even number`);
 *   return n / 2;
 * }
 * assertThrows(() => halve({ n: 3 }), ToolError, "Cannot halve 3");
 * ```
 */
export class ToolError extends Error {
  /** The class's name. */
  override name = "ToolError";
}

/** What a {@linkcode ProtocolError} carries beside its message. */
export interface ProtocolErrorOptions extends ErrorOptions {
  /** The JSON-RPC error code. */
  code: number;
  /** What the peer added to the error. */
  data?: unknown;
}

/**
 * The peer said no in JSON-RPC, or broke the protocol; the connection goes on.
 *
 * @example Read the code
 * ```ts
 * import { ProtocolError } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new ProtocolError("Unknown tool: 'run'", { code: -32602 });
 * assertEquals(error.code, -32602);
 * ```
 */
export class ProtocolError extends Error {
  /** The class's name. */
  override name = "ProtocolError";
  /** The JSON-RPC error code (JSON-RPC 2.0 §5.1). */
  readonly code: number;
  /** What the peer added to the error, if anything. */
  readonly data: unknown;

  /**
   * Say what went wrong.
   *
   * @param message What was tried, what came, what was expected.
   * @param options The code, and the data and cause if there are any.
   */
  constructor(message: string, options: ProtocolErrorOptions) {
    super(message, options);
    this.code = options.code;
    this.data = options.data;
  }
}

/**
 * The arguments fail the tool's schema, found before anything was sent
 * (`-32602`).
 *
 * @example
 * ```ts
 * import { InvalidArgumentsError, ProtocolError } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new InvalidArgumentsError('Cannot call tool "add": /a: missing');
 * assertEquals(error.code, -32602);
 * assertEquals(error instanceof ProtocolError, true);
 * ```
 */
export class InvalidArgumentsError extends ProtocolError {
  /** The class's name. */
  override name = "InvalidArgumentsError";

  /**
   * Say what does not fit.
   *
   * @param message The failures, each with its path.
   * @param options The cause, if there is one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, { ...options, code: ErrorCode.InvalidParams });
  }
}

/**
 * The bytes or the process failed: this connection is over.
 *
 * @example
 * ```ts
 * import { MCPClient, TransportError } from "@miniagent/mcp";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => new MCPClient(["no-such-program"]),
 *   TransportError,
 *   'Cannot start "no-such-program"',
 * );
 * ```
 */
export class TransportError extends Error {
  /** The class's name. */
  override name = "TransportError";
}

/**
 * The stream is not framed, or ended inside a message: it is lost.
 *
 * @example
 * ```ts
 * import { FramingError, MessageReader, readMessage } from "@miniagent/mcp";
 * import { assertRejects } from "@std/assert";
 *
 * const reader = new MessageReader(new Blob(["Content-Length: abc\r\n\r\n"]).stream());
 * await assertRejects(() => readMessage(reader), FramingError, 'value is "abc"');
 * ```
 */
export class FramingError extends TransportError {
  /** The class's name. */
  override name = "FramingError";
}

/**
 * Take the message out of whatever was thrown.
 *
 * @param error What was caught.
 * @returns Its message, or it as text.
 */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    return "a value that cannot be shown";
  }
}
