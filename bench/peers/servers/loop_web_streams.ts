/**
 * A limit: the shortest loop with web streams both ways, a write per answer.
 *
 * @module
 */

import { answer } from "./answer.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const writer = Deno.stdout.writable.getWriter();
let rest = "";
for await (const chunk of Deno.stdin.readable) {
  const lines = decoder.decode(chunk, { stream: true }).split("\n");
  lines[0] = rest + lines[0];
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const text = answer(line);
    if (text !== "") await writer.write(encoder.encode(text));
  }
}
