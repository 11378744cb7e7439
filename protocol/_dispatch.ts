/**
 * One message in, an answer or nothing out: which revision's rules hold, and
 * which method is meant. No I/O. What a method does is left to `_methods.ts`.
 *
 * @module
 */

import {
  classifyMessage,
  describe,
  ErrorCode,
  errorResponse,
  isObject,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from "./jsonrpc.ts";
import { ProtocolError } from "./errors.ts";
import { MetaKey } from "./_meta.ts";
import {
  oldestRevision,
  type Revision,
  revisions,
  statelessVersions,
} from "./revisions.ts";
import {
  type Call,
  INTERNAL_ERROR,
  invalidParams,
  methods,
  type Session,
} from "./_methods.ts";

/** What {@linkcode dispatch} gives: an answer, a batch of them, or nothing. */
export type Answer = JSONRPCMessage | JSONRPCMessage[] | undefined;

/**
 * Answer one message. No I/O: what is to be written is returned.
 *
 * Which revision's rules hold is decided for each request: by the key
 * `io.modelcontextprotocol/protocolVersion` in its `_meta` if it has one, else
 * by the last `initialize` of the session.
 *
 * @param message A JSON value, as it was read.
 * @param session What to remember between messages; a fresh one is `{}`.
 * @returns The answer, `undefined` where there is none, or a promise of it
 * where a tool is async. It never rejects.
 *
 * @example A request and a notification
 * ```ts
 * import { dispatch } from "@miniagent/mcp/server";
 * import { assertEquals } from "@std/assert";
 *
 * const session = {};
 * assertEquals(
 *   dispatch({ jsonrpc: "2.0", id: "a", method: "ping" }, session),
 *   { jsonrpc: "2.0", id: "a", result: {} },
 * );
 * assertEquals(dispatch({ jsonrpc: "2.0", method: "x" }, session), undefined);
 * ```
 */
export function dispatch(
  message: unknown,
  session: Session,
): Answer | Promise<Answer> {
  return Array.isArray(message)
    ? dispatchBatch(message, session)
    : dispatchOne(message, session, false);
}

/** JSON-RPC 2.0 §6 "Batch", for the revisions that have it (MCP 2025-03-26, basic, "Batching"). */
function dispatchBatch(
  batch: unknown[],
  session: Session,
): Answer | Promise<Answer> {
  const { batches, protocolVersion } = session.revision ?? oldestRevision;
  if (!batches) {
    warnUnlessInitialized("an array", session);
    return invalidRequest(`an array is no message in ${protocolVersion}`);
  }
  if (batch.length === 0) {
    warnUnlessInitialized("an empty batch", session);
    return invalidRequest("the batch is empty");
  }
  return answerInOrder(batch, session);
}

async function answerInOrder(
  batch: unknown[],
  session: Session,
): Promise<Answer> {
  const answers: JSONRPCMessage[] = [];
  let characters = 0;
  for (const entry of batch) {
    const answer = await dispatchOne(entry, session, true);
    if (answer === undefined) continue;
    characters += charactersOf(answer);
    if (characters > MAX_BATCH_CHARACTERS) {
      return invalidRequest(
        `the answers to the batch are over ${MAX_BATCH_CHARACTERS} ` +
          `characters after ${answers.length} of ${batch.length} messages`,
      );
    }
    answers.push(answer);
  }
  return answers.length > 0 ? answers : undefined;
}

/** What JSON cannot hold is told where it is written. */
function charactersOf(answer: JSONRPCMessage): number {
  try {
    return JSON.stringify(answer).length;
  } catch {
    return 0;
  }
}

/** A batch of empty entries is answered with fifty times its size: no more than a message may have. */
const MAX_BATCH_CHARACTERS = 64 * 1024 * 1024;

type OneAnswer = JSONRPCMessage | undefined;

function dispatchOne(
  value: unknown,
  session: Session,
  inBatch: boolean,
): OneAnswer | Promise<OneAnswer> {
  const classified = classifyMessage(value);
  switch (classified.kind) {
    case "request":
      return answerRequest(classified.message, session, inBatch);
    case "notification":
      heed(classified.message, session);
      return undefined;
    case "response":
      warnUnlessInitialized("a response", session);
      session.log?.info(
        `Ignored a response with id ${describe(classified.message.id)}: ` +
          "this server sends no requests",
      );
      return undefined;
    case "invalid":
      warnUnlessInitialized("what is no message", session);
      return invalidRequest(classified.reason, classified.id);
    default: // not reached
      return classified satisfies never;
  }
}

function invalidRequest(
  reason: string,
  id: JSONRPCResponse["id"] = null,
): JSONRPCResponse {
  return errorResponse(id, {
    code: ErrorCode.InvalidRequest,
    message: `Cannot read message: ${reason}`,
  });
}

function answerRequest(
  request: JSONRPCRequest,
  session: Session,
  inBatch: boolean,
): JSONRPCMessage | Promise<JSONRPCMessage> {
  try {
    const { method } = request;
    const params = isObject(request.params) ? request.params : {};
    const meta = isObject(params["_meta"]) ? params["_meta"] : {};
    const revision = Object.hasOwn(meta, MetaKey.protocolVersion)
      ? statelessRevision(meta)
      : handshakeRevision(method, session);
    if (inBatch && (method === "initialize" || !revision.batches)) {
      throw new ProtocolError(
        `Cannot serve ${describe(method)}: it must not be part of a batch`,
        { code: ErrorCode.InvalidRequest },
      );
    }
    const serveMethod = revision.methods.has(method)
      ? methods.get(method)
      : undefined;
    if (serveMethod === undefined) {
      throw new ProtocolError(`Method not found: ${describe(method)}`, {
        code: ErrorCode.MethodNotFound,
      });
    }
    if (Array.isArray(request.params)) {
      throw invalidParams(
        `Cannot serve ${describe(method)}: params is an array, ` +
          "expected an object",
      );
    }
    const call: Call = { request, params, revision, session };
    return serveMethod(call);
  } catch (error) {
    if (error instanceof ProtocolError) return errorResponse(request.id, error);
    session.log?.error("Request failed", error);
    return errorResponse(request.id, INTERNAL_ERROR);
  }
}

/** MCP 2026-07-28, basic, `_meta`: what a request must say of itself. */
function statelessRevision(meta: Record<string, unknown>): Revision {
  const requested = meta[MetaKey.protocolVersion];
  if (typeof requested !== "string") {
    throw invalidMeta(MetaKey.protocolVersion, requested, "a string");
  }
  const capabilities = meta[MetaKey.clientCapabilities];
  if (!isObject(capabilities)) {
    throw invalidMeta(MetaKey.clientCapabilities, capabilities, "an object");
  }
  const revision = revisions.get(requested);
  if (revision?.opening !== "request") {
    throw new ProtocolError("Unsupported protocol version", {
      code: ErrorCode.UnsupportedProtocolVersion,
      data: { supported: statelessVersions, requested },
    });
  }
  return revision;
}

function invalidMeta(
  key: string,
  value: unknown,
  expected: string,
): ProtocolError {
  return invalidParams(
    `Cannot serve request: params._meta[${JSON.stringify(key)}] is ` +
      `${describe(value)}, expected ${expected}`,
  );
}

/** MCP 2025-11-25, basic/lifecycle: what may come before the handshake, and what must come after it. */
function handshakeRevision(method: string, session: Session): Revision {
  warnUnlessInitialized(describe(method), session);
  if (
    session.strict && session.revision === undefined &&
    method !== "initialize" && method !== "ping"
  ) {
    throw invalidParams(
      `Cannot serve ${describe(method)}: the protocol version is unknown; ` +
        `send "initialize" first, or put ` +
        `${JSON.stringify(MetaKey.protocolVersion)} into params._meta`,
    );
  }
  if (session.revision === undefined && method !== "initialize") {
    session.log?.warning(`${describe(method)} came before "initialize"`);
  }
  return session.revision ?? oldestRevision;
}

/** A request that names its revision stands outside the handshake, so it is not looked at here. */
function warnUnlessInitialized(what: string, session: Session): void {
  if (!session.awaitsInitialized) return;
  session.awaitsInitialized = false;
  if (what === INITIALIZED) return;
  session.log?.warning(
    `${what} came right after "initialize", expected ${INITIALIZED}`,
  );
}

const INITIALIZED = describe("notifications/initialized");

/** Notifications that are known, and ask nothing of a server that has only tools. */
const UNHEEDED: ReadonlySet<string> = new Set([
  "notifications/progress",
  "notifications/roots/list_changed",
]);

function heed(notification: JSONRPCNotification, session: Session): void {
  const { method, params } = notification;
  warnUnlessInitialized(describe(method), session);
  if (method === "notifications/cancelled") {
    const id = isObject(params) ? params["requestId"] : undefined;
    if (typeof id === "string" || typeof id === "number") {
      session.subscriptions?.delete(id);
    }
  } else if (method !== "notifications/initialized" && !UNHEEDED.has(method)) {
    session.log?.info(`Ignored unknown notification ${describe(method)}`);
  }
}
