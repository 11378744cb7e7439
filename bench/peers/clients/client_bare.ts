/**
 * A limit: the shortest client with web streams both ways, JSON written and
 * parsed, calls queued one behind the other.
 *
 * Arguments: the server's command as JSON, the numbers of calls that are
 * timed and of those in between.
 *
 * @module
 */

import { ARGUMENTS, measureClient } from "./measure_client.mjs";

const [program, ...args]: [string, ...string[]] = JSON.parse(
  Deno.args[0] ?? "",
);
const server = new Deno.Command(program, {
  args,
  stdin: "piped",
  stdout: "piped",
}).spawn();
const writer = server.stdin.getWriter();
const reader = server.stdout.getReader();
const encoder = new TextEncoder();
const decoder = new TextDecoder();
let id = 0;
let last: Promise<unknown> = Promise.resolve();

const params = { name: "conjugate", arguments: ARGUMENTS };
const numbers = await measureClient(
  () => last = last.then(exchange),
  Number(Deno.args[1]),
  Number(Deno.args[2]),
);
await Deno.stdout.write(encoder.encode(numbers));
await writer.close();
await reader.cancel();

async function exchange(): Promise<unknown> {
  const request = { jsonrpc: "2.0", id: id++, method: "tools/call", params };
  await writer.write(encoder.encode(JSON.stringify(request) + "\n"));
  let line = "";
  while (!line.endsWith("\n")) {
    line += decoder.decode((await reader.read()).value, { stream: true });
  }
  return JSON.parse(line).result.content[0].text;
}
