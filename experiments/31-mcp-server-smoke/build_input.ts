/**
 * Builds `input.bin`: the canonical session as a client writes it, in
 * `Content-Length` framing.
 *
 * @module
 */

import { encodeMessage, PROTOCOL_VERSIONS } from "../../mod.ts";

const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };

const MESSAGES = [
  {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: PROTOCOL_VERSIONS[0],
      capabilities: {},
      clientInfo: { name: "smoke", version: "0.1" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: 1, method: "tools/list" },
  {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "conjugate", arguments: EAT },
  },
  {
    jsonrpc: "2.0",
    id: 3,
    method: "tools/call",
    params: { name: "lookup_spanish", arguments: { english_form: "ate" } },
  },
];

/**
 * Write `input.bin`.
 *
 * @param folder Where.
 */
export async function buildInput(folder: string): Promise<void> {
  const frames = MESSAGES.map((message) =>
    encodeMessage(message, "content-length")
  );
  await Deno.writeFile(
    `${folder}/input.bin`,
    ReadableStream.from(frames),
  );
}

if (import.meta.main) {
  await buildInput(Deno.args[0] ?? import.meta.dirname ?? ".");
}
