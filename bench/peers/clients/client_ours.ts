/**
 * Our client against the fixed server.
 *
 * Arguments: the server's command as JSON, the numbers of calls that are
 * timed and of those in between.
 *
 * @module
 */

import { MCPClient } from "../../../client.ts";
import { ARGUMENTS, measureClient } from "./measure_client.mjs";

const command: string[] = JSON.parse(Deno.args[0] ?? "");
const client = new MCPClient(command, {
  framing: "newline",
  protocolVersion: "2025-11-25",
});
await client.initialize();
await client.listTools();
const numbers = await measureClient(
  () => client.callTool("conjugate", ARGUMENTS),
  Number(Deno.args[1]),
  Number(Deno.args[2]),
);
await Deno.stdout.write(new TextEncoder().encode(numbers));
await client.close();
