/**
 * Drives our server with `@modelcontextprotocol/sdk`, any 1.x.
 *
 * @module
 */

import { config, load, revisionOf, runSteps, tap } from "./_steps.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load(
  "@modelcontextprotocol/sdk/client/stdio.js",
);

await runSteps(async () => {
  const [command, ...args] = config.command;
  const transport = new StdioClientTransport({ command, args });
  const messages = tap(transport);
  const client = new Client(
    { name: "interop", version: "1" },
    { capabilities: {} },
  );
  await client.connect(transport);
  await client.ping();
  return {
    revision: revisionOf(messages),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
