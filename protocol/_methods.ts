/**
 * The methods that the server answers, one function each, and what a session
 * remembers between them. No I/O: streams are left to `server.ts`.
 *
 * A method that a revision does not list in `revisions.ts` does not exist in
 * it.
 *
 * @module
 */

import {
  describe,
  ErrorCode,
  errorResponse,
  isObject,
  type JSONRPCError,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
  resultResponse,
} from "./jsonrpc.ts";
import { ProtocolError, ToolError } from "./errors.ts";
import { MetaKey, VERSION } from "./_meta.ts";
import {
  newestHandshake,
  oldestRevision,
  type Revision,
  revisions,
  statelessVersions,
} from "./revisions.ts";
import { findFaults } from "./_schema_gate.ts";
import {
  type JSONSchema,
  registeredTools,
  type Tool,
} from "../tools/registry.ts";

/** Who a server or client says it is (MCP schema `Implementation`). */
export interface Implementation {
  /** The program's name. */
  name: string;
  /** Its version. */
  version: string;
}

/** Where a session reports what only the server's operator wants to know. */
export interface SessionLog {
  /** Report what happened, as it should. */
  info: (text: string) => void;
  /** Report what is odd, though served. */
  warning: (text: string) => void;
  /** Report what failed, and what was thrown, if anything was. */
  error: (text: string, ...thrown: unknown[]) => void;
}

/** What is remembered between the messages of one connection. A fresh one is `{}`. */
export interface Session {
  /** Who we are; if absent, `miniagent-server`. */
  serverInfo?: Implementation | undefined;
  /** How to use the tools, for the model. */
  instructions?: string | undefined;
  /** Whether to answer an unknown version with the newest one known, and to refuse requests before any `initialize`. */
  strict?: boolean | undefined;
  /** Where to report; if absent, nowhere. */
  log?: SessionLog | undefined;
  /** What the last `initialize` agreed on. Set by `dispatch`. */
  revision?: Revision;
  /** Whether `initialize` was the last message of the handshake. Set by `dispatch`. */
  awaitsInitialized?: boolean;
  /** The `subscriptions/listen` requests that are held. Set by `dispatch`. */
  subscriptions?: Set<RequestId>;
}

/** One request on its way: what it asks, by whose rules, in which session. */
export interface Call {
  /** The request. */
  request: JSONRPCRequest;
  /** Its parameters, `{}` where there are none. */
  params: Record<string, unknown>;
  /** The row of the table it is served by. */
  revision: Revision;
  /** Where it came from. */
  session: Session;
}

/** Serves one method: gives the message to send, or throws a `ProtocolError`. */
export type Method = (call: Call) => JSONRPCMessage | Promise<JSONRPCMessage>;

/** Who the server says it is, unless its user says otherwise. */
export const SERVER_INFO: Implementation = {
  name: "miniagent-server",
  version: VERSION,
};

/** Every method, by name. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["initialize", initialize],
  ["ping", (call) => complete(call, {})],
  ["server/discover", discover],
  ["subscriptions/listen", listen],
  ["tools/list", listTools],
  ["tools/call", callTool],
]);

/** How long a client may keep what cannot change while we run, in milliseconds. */
const CACHE_FIELDS = { ttlMs: 3_600_000, cacheScope: "public" };
const CAPABILITIES = { tools: {} };
/** What one client may make us remember. */
const MAX_SUBSCRIPTIONS = 1000;

/** Answer a request with a result, with the fields that its revision adds to any. */
function complete(
  { request, revision, session }: Call,
  result: Record<string, unknown>,
  cacheFields?: typeof CACHE_FIELDS,
): JSONRPCResponse {
  if (revision.opening === "handshake") {
    return resultResponse(request.id, result);
  }
  return resultResponse(request.id, {
    resultType: "complete",
    ...result,
    ...cacheFields,
    _meta: { [MetaKey.serverInfo]: session.serverInfo ?? SERVER_INFO },
  });
}

/** MCP 2025-11-25, basic/lifecycle, "Version Negotiation". */
function initialize(call: Call): JSONRPCResponse {
  const { session, params } = call;
  const asked = params["protocolVersion"];
  const version = typeof asked === "string"
    ? asked
    : oldestRevision.protocolVersion;
  const known = revisions.get(version);
  const refused = session.strict && known?.opening !== "handshake";
  session.revision = known?.opening === "handshake"
    ? known
    : refused || known
    ? newestHandshake
    : oldestRevision;
  session.awaitsInitialized = true;
  const { serverInfo = SERVER_INFO, instructions } = session;
  return complete(call, {
    protocolVersion: refused ? newestHandshake.protocolVersion : version,
    capabilities: CAPABILITIES,
    serverInfo,
    ...(instructions === undefined ? {} : { instructions }),
  });
}

/** MCP 2026-07-28, server/discover. */
function discover(call: Call): JSONRPCResponse {
  const { instructions } = call.session;
  return complete(call, {
    supportedVersions: statelessVersions,
    capabilities: CAPABILITIES,
    ...(instructions === undefined ? {} : { instructions }),
  }, CACHE_FIELDS);
}

/**
 * MCP 2026-07-28, basic/patterns/subscriptions. The tool list cannot change, so
 * we agree to announce nothing, and hold the request until it is cancelled.
 */
function listen({ request, params, session }: Call): JSONRPCNotification {
  if (!isObject(params["notifications"])) {
    throw invalidParams(
      `Cannot listen: params.notifications is ${
        describe(params["notifications"])
      }, expected an object`,
    );
  }
  const held = session.subscriptions ??= new Set();
  if (held.has(request.id)) {
    throw new ProtocolError(
      `Cannot listen: id ${describe(request.id)} is in use`,
      { code: ErrorCode.InvalidRequest },
    );
  }
  if (held.size === MAX_SUBSCRIPTIONS) {
    throw new ProtocolError(
      `Cannot listen: ${held.size} subscriptions are held, the limit`,
      { code: ErrorCode.InternalError },
    );
  }
  held.add(request.id);
  return {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: {
      notifications: {},
      _meta: { [MetaKey.subscriptionId]: request.id },
    },
  };
}

/**
 * End every held subscription, as a server does that shuts down.
 *
 * @param session The session.
 * @returns The final result of each.
 */
export function endSubscriptions(session: Session): JSONRPCResponse[] {
  const held = [...session.subscriptions ?? []];
  session.subscriptions?.clear();
  return held.map((id) =>
    resultResponse(id, {
      resultType: "complete",
      _meta: {
        [MetaKey.subscriptionId]: id,
        [MetaKey.serverInfo]: session.serverInfo ?? SERVER_INFO,
      },
    })
  );
}

function listTools(call: Call): JSONRPCResponse {
  const cursor = call.params["cursor"] ?? undefined;
  if (cursor !== undefined) {
    throw invalidParams(
      `Cannot list tools: cursor is ${describe(cursor)}, expected none, ` +
        "since the list has one page",
    );
  }
  const tools = [...registeredTools.values()].map((tool) =>
    describeTool(tool, call.revision)
  );
  return complete(call, { tools }, CACHE_FIELDS);
}

function describeTool(
  tool: Tool,
  revision: Revision,
): Record<string, unknown> {
  const { name, description, inputSchema } = tool;
  const described: Record<string, unknown> = {
    name,
    description,
    inputSchema: withoutDialect(inputSchema),
  };
  for (const field of revision.toolFields) {
    const value = field === "outputSchema"
      ? tool.outputSchema && withoutDialect(tool.outputSchema)
      : tool[field];
    if (value !== undefined) described[field] = value;
  }
  return described;
}

/** Keywords whose members are schemas by a name of the author's, and those whose value is no schema. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);
const DATA: ReadonlySet<string> = new Set([
  "const",
  "default",
  "enum",
  "examples",
]);

/** Schemas as they are sent, by schema; later changes of it are not seen. */
const sent = new WeakMap<JSONSchema, unknown>();

/** Some clients refuse a tool whose schema names draft 7, at any depth, whatever it means. */
function withoutDialect(schema: JSONSchema): unknown {
  if (!sent.has(schema)) sent.set(schema, stripDialect(schema));
  return sent.get(schema);
}

function stripDialect(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => stripDialect(item));
  if (!isObject(value)) return value;
  const kept = isMap
    ? Object.entries(value)
    : Object.entries(value).filter(([keyword]) => keyword !== "$schema");
  return Object.fromEntries(kept.map(([key, member]) => [
    key,
    !isMap && DATA.has(key)
      ? member
      : stripDialect(member, !isMap && SCHEMA_MAPS.has(key)),
  ]));
}

function callTool(call: Call): JSONRPCResponse | Promise<JSONRPCResponse> {
  const { params, revision } = call;
  const name = params["name"];
  if (typeof name !== "string") {
    throw invalidParams(
      `Cannot call tool: params.name is ${describe(name)}, expected a string`,
    );
  }
  const tool = registeredTools.get(name);
  if (tool === undefined) throw invalidParams(`Unknown tool: '${name}'`);
  const args = params["arguments"] ?? {};
  if (!isObject(args)) {
    throw invalidParams(
      `Cannot call tool ${describe(name)}: params.arguments is ` +
        `${describe(args)}, expected an object`,
    );
  }
  try {
    const answer = after(
      findFaults(tool.inputSchema, revision.dialect, args),
      (faults) =>
        faults === undefined
          ? after(tool.fn(args), (value) => succeeded(call, tool, value))
          : refused(call, `Cannot call tool "${name}": ${faults}`),
    );
    return answer instanceof Promise
      ? answer.catch((error) => caught(call, tool, error))
      : answer;
  } catch (error) {
    return caught(call, tool, error);
  }
}

/** Go on with a value at once, or with what a promise gives: what is sync costs no wait. */
function after<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return isThenable(value)
    ? Promise.resolve(value).then(next)
    : next(value as T);
}

/** MCP 2025-11-25, server/tools, "Error Handling": from then on, bad arguments are for the model to mend. */
function refused(call: Call, message: string): JSONRPCResponse {
  if (call.revision.invalidArguments === "result") return failed(call, message);
  const { id } = call.request;
  return errorResponse(id, { code: ErrorCode.InvalidParams, message });
}

/** The one place where what a tool throws is caught. */
function caught(call: Call, tool: Tool, error: unknown): JSONRPCResponse {
  if (error instanceof ToolError) return failed(call, error.message);
  call.session.log?.error(`Tool "${tool.name}" failed`, error);
  return errorResponse(call.request.id, INTERNAL_ERROR);
}

/** What the wire says of a fault of ours; stderr says the rest. */
export const INTERNAL_ERROR: JSONRPCError = {
  code: ErrorCode.InternalError,
  message: "Internal error",
};

function failed(call: Call, text: string): JSONRPCResponse {
  return complete(call, { content: [{ type: "text", text }], isError: true });
}

/** MCP, schema `CallToolResult`: text for all revisions, the object itself for those that have it. */
function succeeded(
  call: Call,
  tool: Tool,
  value: unknown,
): JSONRPCResponse | Promise<JSONRPCResponse> {
  const { outputSchema } = tool;
  if (value === undefined && outputSchema === undefined) {
    return complete(call, { content: [], isError: false });
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError(`result is ${typeof value}, expected a JSON value`);
  }
  const content = [{ type: "text", text }];
  if (outputSchema === undefined) {
    return complete(call, { content, isError: false });
  }
  // Checked is what the client will read: the JSON, not the value behind it.
  const structuredContent = typeof value === "string"
    ? value
    : JSON.parse(text);
  const { dialect, structuredContent: isStructured } = call.revision;
  return after(
    findFaults(outputSchema, dialect, structuredContent),
    (faults) => {
      if (faults !== undefined) {
        throw new TypeError(`result does not fit outputSchema: ${faults}`);
      }
      return complete(
        call,
        isStructured
          ? { content, structuredContent, isError: false }
          : { content, isError: false },
      );
    },
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}

/**
 * Build the error of a request whose parameters are wrong.
 *
 * @param message What came and what was expected.
 * @returns The error, `-32602`.
 */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(message, { code: ErrorCode.InvalidParams });
}
