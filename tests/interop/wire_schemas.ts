/**
 * What MCP's published schemas say of the messages that this server writes,
 * in our own words: one JSON Schema for each result, by revision. No package
 * on npm ships the published `schema.json` files.
 *
 * Tighter than the originals in one way: an object may hold only the members
 * that its revision names, so that nothing of a later revision slips in.
 * Wider in two ways. `id` may be `null` where the request's could not be read,
 * as JSON-RPC 2.0 §5 says (MCP's schemas know no `null`; from 2025-11-25 on
 * they let it be left out). And a fractional `id` is echoed, though MCP wants
 * whole ones.
 *
 * @module
 */

import { Validator } from "@cfworker/json-schema";
import { type ProtocolVersion, revisions } from "../../protocol/revisions.ts";

type Schema = Record<string, unknown>;

const STRING: Schema = { type: "string" };
const BOOLEAN: Schema = { type: "boolean" };
const OBJECT: Schema = { type: "object" };
const ID: Schema = { type: ["string", "number"] };
const ROOT_OBJECT: Schema = {
  type: "object",
  properties: { type: { const: "object" }, $schema: false },
  required: ["type"],
};

/**
 * Check one message that the server wrote.
 *
 * @param revision The revision that the request was served by.
 * @param method The method of the request that it answers, `undefined` where
 * that could not be read, or of the notification that it is.
 * @param message The message; a batch is checked entry by entry.
 * @returns What is wrong with it, one line each; none if it is valid.
 */
export function validateMessage(
  revision: ProtocolVersion,
  method: string | undefined,
  message: unknown,
): string[] {
  const schema = schemaOf(revision, method, message);
  if (schema === undefined) return [`no schema for a result of ${method}`];
  const { errors } = new Validator(schema, "2020-12", false).validate(message);
  return errors.map(({ instanceLocation, error }) =>
    `${instanceLocation}: ${error}`
  );
}

function schemaOf(
  revision: ProtocolVersion,
  method: string | undefined,
  message: unknown,
): Schema | undefined {
  const { error, method: own } = Object(message);
  if (error !== undefined) return errorResponse(revision);
  if (own !== undefined) return acknowledged();
  const result = results(revision).get(method ?? "");
  return result && closed({ jsonrpc: { const: "2.0" }, id: ID, result });
}

function errorResponse(revision: ProtocolVersion): Schema {
  const general = [-32700, -32600, -32601, -32602, -32603];
  const plain = closed({ code: { enum: general }, message: STRING });
  const unsupported = closed({
    code: { const: -32022 },
    message: STRING,
    data: closed({
      supported: { type: "array", items: STRING, minItems: 1 },
      requested: STRING,
    }),
  });
  return closed({
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "number", "null"] },
    error: isStateless(revision) ? { anyOf: [plain, unsupported] } : plain,
  });
}

function isStateless(revision: ProtocolVersion): boolean {
  return revisions.get(revision)?.opening === "request";
}

function acknowledged(): Schema {
  return closed({
    jsonrpc: { const: "2.0" },
    method: { const: "notifications/subscriptions/acknowledged" },
    params: closed({
      notifications: closed({}, {
        toolsListChanged: BOOLEAN,
        promptsListChanged: BOOLEAN,
        resourcesListChanged: BOOLEAN,
        resourceSubscriptions: { type: "array", items: STRING },
      }),
      _meta: closed({ "io.modelcontextprotocol/subscriptionId": ID }),
    }),
  });
}

/** The result of each method that the revision has. */
function results(revision: ProtocolVersion): Map<string, Schema> {
  const tools = { type: "array", items: tool(revision) };
  const call = callToolResult(revision);
  if (!isStateless(revision)) {
    return new Map([
      ["initialize", initializeResult(revision)],
      ["ping", closed({})],
      ["tools/list", closed({ tools }, { nextCursor: STRING, _meta: OBJECT })],
      [
        "tools/call",
        closed(call.required, { ...call.optional, _meta: OBJECT }),
      ],
    ]);
  }
  const _meta = closed({
    "io.modelcontextprotocol/serverInfo": implementation(revision),
  });
  const complete = { resultType: { const: "complete" }, _meta };
  const cached = {
    ...complete,
    ttlMs: { type: "integer", minimum: 0 },
    cacheScope: { enum: ["public", "private"] },
  };
  return new Map([
    [
      "server/discover",
      closed({
        ...cached,
        supportedVersions: { type: "array", items: STRING, minItems: 1 },
        capabilities: capabilities(),
      }, { instructions: STRING }),
    ],
    ["tools/list", closed({ ...cached, tools }, { nextCursor: STRING })],
    ["tools/call", closed({ ...complete, ...call.required }, call.optional)],
    [
      "subscriptions/listen",
      closed({
        ...complete,
        _meta: closed({
          "io.modelcontextprotocol/subscriptionId": ID,
          "io.modelcontextprotocol/serverInfo": implementation(revision),
        }),
      }),
    ],
  ]);
}

function initializeResult(revision: ProtocolVersion): Schema {
  return closed({
    protocolVersion: STRING,
    capabilities: capabilities(),
    serverInfo: implementation(revision),
  }, { instructions: STRING, _meta: OBJECT });
}

function capabilities(): Schema {
  return closed({ tools: closed({}, { listChanged: BOOLEAN }) });
}

function implementation(revision: ProtocolVersion): Schema {
  return closed({ name: STRING, version: STRING }, {
    ...(revision >= "2025-06-18" ? { title: STRING } : {}),
    ...(revision >= "2025-11-25"
      ? { description: STRING, websiteUrl: STRING, icons: icons() }
      : {}),
  });
}

function tool(revision: ProtocolVersion): Schema {
  return closed({
    name: STRING,
    inputSchema: ROOT_OBJECT,
  }, {
    description: STRING,
    ...(revision >= "2025-03-26" ? { annotations: toolAnnotations() } : {}),
    ...(revision >= "2025-06-18"
      ? { title: STRING, outputSchema: ROOT_OBJECT, _meta: OBJECT }
      : {}),
    ...(revision >= "2025-11-25" ? { icons: icons() } : {}),
  });
}

function toolAnnotations(): Schema {
  return closed({}, {
    title: STRING,
    readOnlyHint: BOOLEAN,
    destructiveHint: BOOLEAN,
    idempotentHint: BOOLEAN,
    openWorldHint: BOOLEAN,
  });
}

function icons(): Schema {
  return {
    type: "array",
    items: closed({ src: STRING }, {
      mimeType: STRING,
      sizes: { type: "array", items: STRING },
      theme: { enum: ["light", "dark"] },
    }),
  };
}

function callToolResult(
  revision: ProtocolVersion,
): Record<"required" | "optional", Schema> {
  const content = {
    type: "array",
    items: closed({ type: { const: "text" }, text: STRING }),
  };
  return {
    required: { content },
    optional: {
      isError: BOOLEAN,
      ...(revision >= "2025-06-18" ? { structuredContent: OBJECT } : {}),
    },
  };
}

/** An object with these members and no others. */
function closed(required: Schema, optional: Schema = {}): Schema {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}
