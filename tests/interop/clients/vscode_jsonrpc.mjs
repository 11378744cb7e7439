/**
 * Drives our server with `vscode-jsonrpc`, which frames with Content-Length;
 * `config.mode` is the revision that is spoken.
 *
 * @module
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { config, load, runSteps } from "./_steps.mjs";

const { createMessageConnection, StreamMessageReader, StreamMessageWriter } =
  await load("vscode-jsonrpc/node");

const META = {
  "io.modelcontextprotocol/protocolVersion": config.mode,
  "io.modelcontextprotocol/clientCapabilities": {},
};
const modern = config.mode === "2026-07-28";

await runSteps(async () => {
  const [command, ...args] = config.command;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.listen();
  const request = (method, params = {}) =>
    connection.sendRequest(
      method,
      modern ? { ...params, _meta: META } : params,
    );
  if (modern) {
    const { supportedVersions } = await request("server/discover", {});
    assert.deepEqual(supportedVersions, [config.mode]);
  } else {
    const { protocolVersion } = await request("initialize", {
      protocolVersion: config.mode,
      capabilities: {},
      clientInfo: { name: "interop", version: "1" },
    });
    assert.equal(protocolVersion, config.mode);
    await connection.sendNotification("notifications/initialized");
    assert.deepEqual(await request("ping"), {});
  }
  return {
    revision: config.mode,
    listTools: async () => (await request("tools/list", {})).tools,
    callTool: (name, args) => request("tools/call", { name, arguments: args }),
    close: async () => {
      const closed = once(child, "close");
      child.stdin.end();
      await closed;
      connection.dispose();
    },
  };
});
