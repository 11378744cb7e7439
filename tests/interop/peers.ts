/**
 * The foreign software that we are tried against: which packages at which
 * version, and how each is driven.
 *
 * @module
 */

import type { Framing } from "../../framing.ts";

/** One row of the table that `run.ts` prints. */
export interface Peer {
  /** What `--only` takes. */
  name: string;
  /** The folder under `.cache/interop` that its packages are installed in. */
  folder: string;
  /** The npm packages, with exact versions; the first is the peer itself. */
  packages: readonly string[];
  /** The program that drives it, under `clients/`. */
  driver: string;
  /** The revision that the session must end up in. */
  revision: string;
  /** Another that it may end up in on a machine that is slow to start Deno. */
  fallback?: string;
  /** The framing that is spoken. */
  framing: Framing;
  /** What the driver makes of it: a negotiation mode. */
  mode: string;
  /** The steps it must report, in order. */
  steps: readonly string[];
  /** For a foreign server: how it is run and what is asked of it. */
  server?: ForeignServer;
}

/** A call, and what must come of it. */
export interface Call {
  /** The tool. */
  tool: string;
  /** Its arguments. `{DIR}` stands for an empty folder. */
  arguments: Record<string, unknown>;
  /** The error class that it must reject with, if it must. */
  error?: string;
  /** What the value (as JSON) or the error's message must contain. */
  contains: string;
}

/** A server that somebody else wrote. */
export interface ForeignServer {
  /** The package's program, from `node_modules` on. */
  program: string;
  /** Its arguments. `{DIR}` stands for an empty folder. */
  args?: readonly string[];
  /** Its environment, besides what it inherits. */
  env?: Readonly<Record<string, string>>;
  /** Some of the tools that it must list. */
  tools: readonly string[];
  /** A call that succeeds. */
  success: Call;
  /** A call that the server refuses. */
  failure: Call;
  /** A call whose arguments fail the tool's schema: nothing is sent. */
  invalid: Call;
}

const OUR_SERVER_STEPS = [
  "handshake",
  "list",
  "call",
  "object",
  "tool error",
  "bad arguments",
  "unknown tool",
  "end",
] as const;

const OUR_CLIENT_STEPS = [
  "handshake",
  "list",
  "call",
  "failing call",
  "bad arguments",
  "end",
] as const;

/** Every peer, in the order that they are run. */
export const peers: readonly Peer[] = [
  ...[
    ["1.0.4", "2024-11-05"],
    ["1.12.3", "2025-03-26"],
    ["1.32.2", "2025-11-25"],
  ].map(([version = "", revision = ""]) =>
    client({
      name: `sdk-${version}`,
      packages: [`@modelcontextprotocol/sdk@${version}`],
      driver: "sdk_v1.mjs",
      revision,
    })
  ),
  ...[
    ["legacy", "2025-11-25"],
    ["auto", "2026-07-28"],
    ["2026-07-28", "2026-07-28"],
  ].map(([mode = "", revision = ""]) =>
    client({
      name: `client-2.4.0-${mode}`,
      folder: "client-2.4.0",
      packages: ["@modelcontextprotocol/client@2.4.0"],
      driver: "sdk_v2.mjs",
      revision,
      mode,
    })
  ),
  ...[
    ["auto", "2026-07-28"],
    ["legacy", "2025-11-25"],
  ].map(([mode = "", revision = ""]) =>
    client({
      name: `ai-sdk-2.0.99-${mode}`,
      folder: "ai-sdk-2.0.99",
      packages: ["@ai-sdk/mcp@2.0.99"],
      driver: "ai_sdk.mjs",
      revision,
      fallback: "2025-11-25", // its probe gives up after a second
      mode,
    })
  ),
  client({
    name: "inspector-0.22.0",
    packages: ["@modelcontextprotocol/inspector@0.22.0"],
    driver: "inspector.mjs",
    revision: "2025-11-25",
  }),
  ...[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
  ].map((revision) =>
    client({
      name: `vscode-jsonrpc-10.0.0-${revision}`,
      folder: "vscode-jsonrpc-10.0.0",
      packages: ["vscode-jsonrpc@10.0.0"],
      driver: "vscode_jsonrpc.mjs",
      framing: "content-length",
      revision,
      mode: revision,
    })
  ),
  server({
    name: "server-everything",
    revision: "2025-11-25",
    mode: "auto",
    server: {
      program: "@modelcontextprotocol/server-everything/dist/index.js",
      tools: ["echo", "get-sum", "get-structured-content"],
      success: {
        tool: "echo",
        arguments: { message: "comió 🎉" },
        contains: "Echo: comió 🎉",
      },
      failure: {
        tool: "gzip-file-as-resource",
        arguments: { name: "x", data: "nope://x", outputType: "resource" },
        error: "ToolError",
        contains: "Unsupported URL protocol",
      },
      invalid: {
        tool: "get-sum",
        arguments: { a: "1", b: 2 },
        error: "InvalidArgumentsError",
        contains: "/a",
      },
    },
  }),
  server({
    name: "server-filesystem",
    revision: "2025-11-25",
    mode: "auto",
    server: {
      program: "@modelcontextprotocol/server-filesystem/dist/index.js",
      args: ["{DIR}"],
      tools: ["read_text_file", "list_allowed_directories"],
      success: {
        tool: "list_allowed_directories",
        arguments: {},
        contains: "{DIR}",
      },
      failure: {
        tool: "read_text_file",
        arguments: { path: "{DIR}/none" },
        error: "ToolError",
        contains: "ENOENT",
      },
      invalid: {
        tool: "read_text_file",
        arguments: {},
        error: "InvalidArgumentsError",
        contains: "path",
      },
    },
  }),
  server({
    name: "server-memory",
    revision: "2025-11-25",
    mode: "auto",
    server: {
      program: "@modelcontextprotocol/server-memory/dist/index.js",
      env: { MEMORY_FILE_PATH: "{DIR}/memory.json" },
      tools: ["create_entities", "read_graph"],
      success: {
        tool: "create_entities",
        arguments: {
          entities: [{
            name: "eat",
            entityType: "verb",
            observations: ["ate"],
          }],
        },
        contains: '"observations":["ate"]',
      },
      failure: {
        tool: "add_observations",
        arguments: {
          observations: [{ entityName: "run", contents: ["ran"] }],
        },
        error: "ToolError",
        contains: "Entity with name run not found",
      },
      invalid: {
        tool: "open_nodes",
        arguments: { names: "eat" },
        error: "InvalidArgumentsError",
        contains: "/names",
      },
    },
  }),
  server({
    name: "server-sequential-thinking",
    revision: "2025-11-25",
    mode: "auto",
    server: {
      program: "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
      tools: ["sequentialthinking"],
      success: {
        tool: "sequentialthinking",
        arguments: {
          thought: "eat, ate, eaten",
          nextThoughtNeeded: false,
          thoughtNumber: 1,
          totalThoughts: 1,
        },
        contains: '"thoughtHistoryLength":1',
      },
      // All that its own check refuses, its schema refuses before.
      failure: {
        tool: "no_such_tool",
        arguments: {},
        error: "ToolError",
        contains: "no_such_tool",
      },
      invalid: {
        tool: "sequentialthinking",
        arguments: { thought: "x" },
        error: "InvalidArgumentsError",
        contains: "thoughtNumber",
      },
    },
  }),
  ...[
    ["auto", "2026-07-28"],
    ["2026-07-28", "2026-07-28"],
    ["2025-11-25", "2025-11-25"],
  ].map(([mode = "", revision = ""]) =>
    server({
      name: `context7-4.1.1-${mode}`,
      folder: "context7-4.1.1",
      packages: ["@upstash/context7-mcp@4.1.1"],
      revision,
      mode,
      server: {
        program: "@upstash/context7-mcp/dist/index.js",
        tools: ["resolve-library-id", "query-docs"],
        // Without a network this succeeds too, with a text that says so.
        success: {
          tool: "resolve-library-id",
          arguments: { query: "streams", libraryName: "deno" },
          contains: "librar",
        },
        failure: {
          tool: "no_such_tool",
          arguments: {},
          error: "ProtocolError",
          contains: "no_such_tool",
        },
        invalid: {
          tool: "query-docs",
          arguments: { query: "streams" },
          error: "InvalidArgumentsError",
          contains: "libraryId",
        },
      },
    })
  ),
];

function client(
  peer:
    & Pick<Peer, "name" | "packages" | "driver" | "revision">
    & Partial<Peer>,
): Peer {
  return {
    folder: peer.name,
    framing: "newline",
    mode: "",
    steps: OUR_SERVER_STEPS,
    ...peer,
  };
}

function server(
  peer:
    & Pick<Peer, "name" | "revision" | "mode" | "server">
    & Partial<Peer>,
): Peer {
  return {
    folder: "servers",
    packages: [
      "@modelcontextprotocol/server-everything@2026.8.31",
      "@modelcontextprotocol/server-filesystem@2026.8.31",
      "@modelcontextprotocol/server-memory@2026.8.31",
      "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
    ],
    driver: "our_client.ts",
    framing: "newline",
    steps: OUR_CLIENT_STEPS,
    ...peer,
  };
}
