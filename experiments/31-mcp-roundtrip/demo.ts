/**
 * Drives the server with the client, prints what crosses the wire, and writes
 * it to `transcript.txt`, with `results.json` and `manifest.json`.
 *
 * `> METHOD {params}` goes to the server, `< {result}` comes from it.
 *
 * @module
 */

import { MCPClient, ProtocolError, ToolError } from "../../mod.ts";
import { writeJSON, writeManifest } from "../_manifest.ts";

const SERVER = [
  ...["deno", "run", "--quiet", "--no-prompt"],
  ...[import.meta.resolve("../../server.ts"), "--log-level", "WARNING"],
];

const CALLS = [
  ["conjugate", { verb: "eat", tense: "past_simple", person: "3sg" }],
  ["lookup_spanish", { english_form: "ate" }],
  ["lookup_irregular_verb", { verb: "go" }],
  ["check_subject_verb_agreement", { subject: "he", verb_form: "go" }],
] as const;

/** As much of a message as a transcript needs. */
interface Message {
  method?: string;
  params?: unknown;
  result?: { isError?: boolean };
  error?: unknown;
}

const folder = Deno.args[0] ?? import.meta.dirname ?? ".";
const messages: Message[] = [];
let transcript = "";

const { tools, protocol } = await runSession();
const failed = messages.filter(({ error, result }) =>
  error !== undefined || result?.isError === true
);
await Deno.writeTextFile(`${folder}/transcript.txt`, transcript);
await writeJSON(`${folder}/results.json`, {
  tools_discovered: tools,
  calls_made: messages.filter(({ method }) => method === "tools/call").length,
  calls_failed: failed.length,
  transcript_path: "transcript.txt",
});
await writeManifest(folder, {
  experiment: "31-mcp-roundtrip",
  protocol,
  artefacts: ["transcript.txt", "results.json"],
});
await new Blob([transcript]).stream().pipeTo(Deno.stdout.writable);
if (failed.length > 0) Deno.exitCode = 1;

async function runSession(): Promise<{ tools: number; protocol: string }> {
  await using client = new MCPClient(SERVER, {
    onMessage: (direction, message) => {
      messages.push(message);
      transcript += `${direction} ${line(message)}\n`;
    },
  });
  const { protocolVersion } = await client.initialize();
  const tools = await client.listTools();
  for (const [name, args] of CALLS) {
    try {
      await client.callTool(name, args);
    } catch (error) {
      // The transcript shows what the server refused; a broken pipe ends us.
      if (!(error instanceof ToolError || error instanceof ProtocolError)) {
        throw error;
      }
    }
  }
  return { tools: tools.length, protocol: String(protocolVersion) };
}

function line({ method, params, result, error }: Message): string {
  if (method !== undefined) return `${method} ${JSON.stringify(params ?? {})}`;
  if (error !== undefined) return `error ${JSON.stringify(error)}`;
  return JSON.stringify(result);
}
