/**
 * What one call costs from end to end: our client on our server, in both
 * framings. The baseline is `tools/list`, which runs no
 * tool.
 *
 * @module
 */

import { MCPClient } from "../client.ts";

const SERVER = new URL("../server.ts", import.meta.url).pathname;
const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };

for (const framing of ["newline", "content-length"] as const) {
  // Never closed: the server ends when this process does, with its stdin.
  const client = new MCPClient(["deno", "run", "--no-prompt", SERVER], {
    framing,
    onStderr: () => {},
  });
  await client.initialize();
  await client.listTools();
  Deno.bench(
    `MCPClient.listTools() on the server, ${framing}`,
    { group: framing, baseline: true },
    async () => void await client.listTools(),
  );
  Deno.bench(
    `MCPClient.callTool() on conjugate, ${framing}`,
    { group: framing },
    async () => void await client.callTool("conjugate", EAT),
  );
  Deno.bench(
    `MCPClient.callTool() on 100 queued conjugate, ${framing}`,
    { group: framing },
    async () => {
      const calls = Array.from(
        { length: 100 },
        () => client.callTool("conjugate", EAT),
      );
      await Promise.all(calls);
    },
  );
}
