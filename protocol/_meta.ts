/**
 * What we say of ourselves, and the keys that MCP reserves in `_meta` (MCP
 * 2026-07-28, basic, `_meta`).
 *
 * @module
 */

/** The version that both programs print and announce. */
export const VERSION = "0.1";

/** The keys, by their last word. */
export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;
