/**
 * Fuzz every property for as long as one likes, and print how often each was
 * tried.
 *
 * ```sh
 * deno task fuzz --seconds 300 --seed 7
 * ```
 *
 * A property that breaks is printed with its seed, its path and the smallest
 * input found; the exit code is then 1.
 *
 * @module
 */

import { parseFlags, positiveInteger } from "../../runtime/flags.ts";
import { PROPERTIES } from "./_all.ts";
import type { Property } from "./_property.ts";

const { flags } = parseFlags(
  Deno.args,
  new Map([
    ["seconds", { parse: positiveInteger }],
    ["seed", { parse: positiveInteger }],
  ]),
);
const seconds = Number(flags.get("seconds") ?? 60);
const seed = Number(flags.get("seed") ?? Date.now() % 2 ** 31);

/** Try one property until its time is over, a few runs a seed. */
async function fuzz(
  { name, runs, check }: Property,
  milliseconds: number,
): Promise<boolean> {
  const end = performance.now() + milliseconds;
  let total = 0;
  for (let round = 0; performance.now() < end; round++) {
    const outcome = await check({ numRuns: runs, seed: seed + round });
    total += outcome.runs;
    if (outcome.report === undefined) continue;
    print(`BROKEN after ${total} runs: ${name}\n${outcome.report}`);
    return false;
  }
  print(`${String(total).padStart(9)} runs  ${name}`);
  return true;
}

function print(line: string): void {
  // deno-lint-ignore no-console -- the program's output
  console.log(line);
}

print(`seed ${seed}, ${seconds} s for ${PROPERTIES.length} properties`);
let broken = 0;
for (const property of PROPERTIES) {
  const held = await fuzz(property, seconds * 1000 / PROPERTIES.length);
  if (!held) broken++;
}
print(`${PROPERTIES.length - broken} held, ${broken} broken, seed ${seed}`);
if (broken > 0) Deno.exit(1);
