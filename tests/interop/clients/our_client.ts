/**
 * Drives a server that somebody else wrote with our client: one line of JSON
 * on stdout for each step.
 *
 * @module
 */

// deno-lint-ignore-file no-console -- stdout is this program's report

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MCPClient, type ProtocolVersion } from "../../../mod.ts";
import type { Call, ForeignServer } from "../peers.ts";

interface Config {
  command: string[];
  mode: ProtocolVersion | "auto";
  server: ForeignServer;
}

const config: Config = JSON.parse(Deno.args[0] ?? "{}");
const { success, failure, invalid, tools } = config.server;

const client = new MCPClient(config.command, {
  framing: "newline",
  protocolVersion: config.mode,
  requestTimeoutMs: 30_000,
  onMessage: (direction, message) => notice(direction, message),
});
let revision = "?";
let sent = 0;

await step("handshake", async () => {
  await client.initialize();
  return { revision };
});
await step("list", async () => {
  const names = (await client.listTools()).map((tool) => tool.name);
  for (const name of tools) assert(names.includes(name), `no "${name}"`);
});
await step("call", () => attempt(success));
await step("failing call", () => attempt(failure));
await step("bad arguments", async () => {
  const before = sent;
  await attempt(invalid);
  assertEquals(sent, before, "something was sent");
});
await step("end", () => client.close());

/** Read the revision off the wire, and count what is sent. */
function notice(direction: ">" | "<", message: unknown): void {
  const { params, result } = message as {
    params?: { _meta?: Record<string, unknown> };
    result?: { protocolVersion?: unknown };
  };
  const claimed = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  if (direction === ">") sent += 1;
  if (direction === ">" && claimed !== undefined) revision = String(claimed);
  if (direction === "<" && result?.protocolVersion !== undefined) {
    revision = String(result.protocolVersion);
  }
}

async function attempt(call: Call): Promise<void> {
  const outcome = await client.callTool(call.tool, call.arguments).then(
    (value) => ({ name: undefined, text: JSON.stringify(value) }),
    (error) => ({ name: error.name as string, text: String(error.message) }),
  );
  assertEquals(outcome.name, call.error, outcome.text);
  assertStringIncludes(outcome.text, call.contains);
}

async function step(name: string, action: () => unknown): Promise<void> {
  try {
    const more = await action();
    console.log(JSON.stringify({ step: name, ok: true, ...more as object }));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    console.log(JSON.stringify({ step: name, ok: false, detail }));
  }
}
