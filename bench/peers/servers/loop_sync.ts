/**
 * A limit: the shortest loop with the cheapest calls, a write per chunk read.
 * No server could be written so: it blocks timers, signals and async tools.
 *
 * @module
 */

import { answer } from "./answer.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const buffer = new Uint8Array(65_536);
let rest = "";
for (let n; (n = Deno.stdin.readSync(buffer)) !== null;) {
  const text = decoder.decode(buffer.subarray(0, n), { stream: true });
  const lines = text.split("\n");
  lines[0] = rest + lines[0];
  rest = lines.pop() ?? "";
  let out = encoder.encode(lines.map(answer).join(""));
  while (out.length > 0) out = out.subarray(Deno.stdout.writeSync(out));
}
