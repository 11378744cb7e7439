/**
 * The peer `@modelcontextprotocol/server` 2: one tool over stdio.
 *
 * @module
 */

import process from "node:process";
// @ts-ignore: node resolves it, in the cache folder
import { McpServer } from "@modelcontextprotocol/server";
// @ts-ignore: node resolves it, in the cache folder
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
// @ts-ignore: node resolves it, in the cache folder
import { z } from "zod";
import {
  conjugate,
  DESCRIPTION,
  MAX_MESSAGE_BYTES,
  NAME,
  PERSONS,
  TENSES,
} from "./table.mjs";

const server = new McpServer({ name: "sdk-v2", version: "0.1" });
const inputSchema = z.object({
  verb: z.string(),
  tense: z.enum(TENSES),
  person: z.enum(PERSONS),
});
server.registerTool(NAME, { description: DESCRIPTION, inputSchema }, conjugate);
const options = { maxBufferSize: MAX_MESSAGE_BYTES };
await server.connect(
  new StdioServerTransport(process.stdin, process.stdout, options),
);
