/**
 * Drives our server with `@ai-sdk/mcp`; `config.mode` `legacy` turns its probe
 * off. It ends a server with SIGTERM and never closes stdin.
 *
 * @module
 */

import { config, load, revisionOf, runSteps, tap } from "./_steps.mjs";

const { createMCPClient } = await load("@ai-sdk/mcp");
const { StdioMCPTransport } = await load("@ai-sdk/mcp/mcp-stdio");

await runSteps(async () => {
  const [command, ...args] = config.command;
  const transport = new StdioMCPTransport({ command, args });
  const messages = tap(transport);
  const client = await createMCPClient({
    transport,
    protocolVersionDiscovery: config.mode !== "legacy",
  });
  return {
    revision: revisionOf(messages),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
