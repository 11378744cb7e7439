/**
 * The client of `@modelcontextprotocol/sdk` 1 against the fixed server.
 *
 * Arguments: the server's command as JSON, the numbers of calls that are
 * timed and of those in between.
 *
 * @module
 */

import process from "node:process";
// @ts-ignore: node resolves it, in the cache folder
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-ignore: node resolves it, in the cache folder
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ARGUMENTS, measureClient } from "./measure_client.mjs";

const [command, ...args] = JSON.parse(process.argv[2]);
const client = new Client({ name: "bench", version: "0.1" });
await client.connect(new StdioClientTransport({ command, args }));
await client.listTools();
const call = () => client.callTool({ name: "conjugate", arguments: ARGUMENTS });
const counts = process.argv.slice(3).map(Number);
process.stdout.write(await measureClient(call, ...counts));
await client.close();
