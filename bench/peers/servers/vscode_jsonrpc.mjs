/**
 * The peer `vscode-jsonrpc`: the methods by hand over its `Content-Length`
 * framing. It validates no arguments.
 *
 * @module
 */

import process from "node:process";
import {
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  // @ts-ignore: node resolves it, in the cache folder
} from "vscode-jsonrpc/node";
import { conjugate, DESCRIPTION, INPUT_SCHEMA, NAME } from "./table.mjs";

const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
connection.onRequest("initialize", ({ protocolVersion }) => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: "vscode-jsonrpc", version: "0.1" },
}));
connection.onNotification("notifications/initialized", () => {});
connection.onRequest("tools/list", () => ({
  tools: [{ name: NAME, description: DESCRIPTION, inputSchema: INPUT_SCHEMA }],
}));
connection.onRequest("tools/call", (params) => {
  if (params.name === NAME) return conjugate(params.arguments);
  throw new ResponseError(
    ErrorCodes.InvalidParams,
    `Unknown tool: '${params.name}'`,
  );
});
connection.onClose(() => process.exit(0));
connection.listen();
