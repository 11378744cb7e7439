/**
 * Drives our server with `@modelcontextprotocol/client` 2.x; `config.mode` is
 * its negotiation mode: `legacy`, `auto`, or a revision to be pinned to.
 *
 * @module
 */

import { config, load, runSteps } from "./_steps.mjs";

const { Client } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load(
  "@modelcontextprotocol/client/stdio",
);

await runSteps(async () => {
  const [command, ...args] = config.command;
  const { mode } = config;
  const client = new Client({ name: "interop", version: "1" }, {
    versionNegotiation: {
      mode: mode === "legacy" || mode === "auto" ? mode : { pin: mode },
    },
  });
  // No tap: the SDK probes in a process of its own only where the transport
  // is exactly its own.
  await client.connect(new StdioClientTransport({ command, args }));
  if (client.getProtocolEra() === "legacy") await client.ping();
  return {
    revision: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
