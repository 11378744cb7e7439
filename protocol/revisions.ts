/**
 * One table: what each revision of MCP does differently. The only file that
 * holds a date.
 *
 * @module
 */

/** The revisions of MCP that are spoken here, oldest first. */
export const PROTOCOL_VERSIONS = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28",
] as const;

/** One of {@linkcode PROTOCOL_VERSIONS}. */
export type ProtocolVersion = typeof PROTOCOL_VERSIONS[number];

/** A field of `Tool` that only some revisions know. */
export type ToolField = "annotations" | "title" | "outputSchema" | "icons";

/** What one revision does: a row of the table. */
export interface Revision {
  /** The revision's date, as on the wire. */
  readonly protocolVersion: ProtocolVersion;
  /**
   * How a client opens: with `initialize` (`"handshake"`), or by naming the
   * revision in each request's `_meta` (`"request"`).
   */
  readonly opening: "handshake" | "request";
  /** The methods that are served; any other is `-32601`. */
  readonly methods: ReadonlySet<string>;
  /** Whether an array of messages is a batch, or an invalid request. */
  readonly batches: boolean;
  /** What `tools/list` says of a tool beyond name, description, inputSchema. */
  readonly toolFields: readonly ToolField[];
  /** Whether a tool with an `outputSchema` answers with `structuredContent`. */
  readonly structuredContent: boolean;
  /**
   * Where arguments that fail the schema are reported: as a JSON-RPC error,
   * or as a tool result with `isError: true`.
   */
  readonly invalidArguments: "error" | "result";
  /** The JSON Schema dialect of a schema without `$schema`. */
  readonly dialect: "7" | "2020-12";
}

const HANDSHAKE_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
]);

const STATELESS_METHODS: ReadonlySet<string> = new Set([
  "server/discover",
  "subscriptions/listen",
  "tools/list",
  "tools/call",
]);

/** What a session is served by until, or unless, it names a known revision. */
export const oldestRevision: Revision = {
  protocolVersion: "2024-11-05",
  opening: "handshake",
  methods: HANDSHAKE_METHODS,
  batches: true,
  toolFields: [],
  structuredContent: false,
  invalidArguments: "error",
  dialect: "7",
};

/** The newest revision that opens with a handshake. */
export const newestHandshake: Revision = {
  protocolVersion: "2025-11-25",
  opening: "handshake",
  methods: HANDSHAKE_METHODS,
  batches: false,
  toolFields: ["annotations", "title", "outputSchema", "icons"],
  structuredContent: true,
  invalidArguments: "result",
  dialect: "2020-12",
};

/** The newest revision that each request names for itself. */
export const newestStateless: Revision = {
  protocolVersion: "2026-07-28",
  opening: "request",
  methods: STATELESS_METHODS,
  batches: false,
  toolFields: ["annotations", "title", "outputSchema", "icons"],
  structuredContent: true,
  invalidArguments: "result",
  dialect: "2020-12",
};

/** The table, oldest first. */
const rows: readonly Revision[] = [
  oldestRevision,
  {
    protocolVersion: "2025-03-26",
    opening: "handshake",
    methods: HANDSHAKE_METHODS,
    batches: true,
    toolFields: ["annotations"],
    structuredContent: false,
    invalidArguments: "error",
    dialect: "7",
  },
  {
    protocolVersion: "2025-06-18",
    opening: "handshake",
    methods: HANDSHAKE_METHODS,
    batches: false,
    toolFields: ["annotations", "title", "outputSchema"],
    structuredContent: true,
    invalidArguments: "error",
    dialect: "7",
  },
  newestHandshake,
  newestStateless,
];

/** The table, by the revision's date. */
export const revisions: ReadonlyMap<string, Revision> = new Map(
  rows.map((row) => [row.protocolVersion, row]),
);

/** The revisions that a request may name in its `_meta`. */
export const statelessVersions: readonly ProtocolVersion[] = rows
  .filter((row) => row.opening === "request")
  .map((row) => row.protocolVersion);
