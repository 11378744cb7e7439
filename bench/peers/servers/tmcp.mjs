/**
 * The peer `tmcp`, with its stdio transport and its adapter for zod: one tool.
 *
 * @module
 */

// @ts-ignore: node resolves it, in the cache folder
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
// @ts-ignore: node resolves it, in the cache folder
import { StdioTransport } from "@tmcp/transport-stdio";
// @ts-ignore: node resolves it, in the cache folder
import { McpServer } from "tmcp";
// @ts-ignore: node resolves it, in the cache folder
import { z } from "zod";
import { conjugate, DESCRIPTION, NAME, PERSONS, TENSES } from "./table.mjs";

const server = new McpServer(
  { name: "tmcp", version: "0.1", description: "Benchmark peer" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
);
const schema = z.object({
  verb: z.string(),
  tense: z.enum(TENSES),
  person: z.enum(PERSONS),
});
server.tool({ name: NAME, description: DESCRIPTION, schema }, conjugate);
new StdioTransport(server).listen();
