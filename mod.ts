/**
 * An MCP (Model Context Protocol) server and client over stdio, written by hand
 * on JSON-RPC 2.0.
 *
 * Importing this module starts nothing and registers nothing. A server of your
 * own is {@linkcode register} a few times, then {@linkcode serve}; a client is
 * {@linkcode MCPClient}.
 *
 * @example A server of your own (`ignore`d: it serves until its stdin ends)
 * ```ts ignore
 * import { register, serve, ToolError } from "@miniagent/mcp";
 *
 * register({
 *   name: "divide",
 *   description: "Divide a by b",
 *   inputSchema: {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number" } },
 *     required: ["a", "b"],
 *   },
 *   fn: ({ a, b }) => {
 *     if (b === 0) throw new ToolError("Cannot divide by 0");
 *     return a / b;
 *   },
 * });
 * Deno.exit(await serve());
 * ```
 *
 * @module
 */

export {
  type ClassifiedMessage,
  classifyMessage,
  ErrorCode,
  errorResponse,
  type JSONRPCError,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
  resultResponse,
} from "./protocol/jsonrpc.ts";
export {
  FramingError,
  InvalidArgumentsError,
  ProtocolError,
  type ProtocolErrorOptions,
  ToolError,
  TransportError,
} from "./protocol/errors.ts";
export {
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
  type Revision,
  revisions,
  type ToolField,
} from "./protocol/revisions.ts";
export {
  DEFAULT_MAX_MESSAGE_BYTES,
  encodeMessage,
  type Framing,
  type FramingOptions,
  MessageReader,
  MessageWriter,
  readMessage,
  writeMessage,
} from "./framing.ts";
export {
  type JSONSchema,
  register,
  registeredTools,
  type Tool,
  type ToolAnnotations,
  type ToolIcon,
} from "./tools/registry.ts";
export { conjugate } from "./tools/conjugate.ts";
export { lookupIrregularVerb } from "./tools/lookup_irregular_verb.ts";
export { lookupSpanish } from "./tools/lookup_spanish.ts";
export { checkSubjectVerbAgreement } from "./tools/check_subject_verb_agreement.ts";
export {
  type Answer,
  dispatch,
  type Implementation,
  type LogLevel,
  serve,
  type ServeOptions,
  type Session,
  type SessionLog,
} from "./server.ts";
export {
  type CallOptions,
  type CallToolResult,
  type ContentBlock,
  type Direction,
  type InitializeResult,
  type ListedTool,
  MCPClient,
  type MCPClientOptions,
} from "./client.ts";
