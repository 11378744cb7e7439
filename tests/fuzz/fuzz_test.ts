import { PROPERTIES } from "./_all.ts";

/** The same inputs each time: a change lands or not by what it does. `deno task fuzz` tries others. */
const SEED = 42;

for (const { name, runs, check, needs } of PROPERTIES) {
  Deno.test({
    name,
    ignore: needs !== undefined && !mayUse(needs),
    fn: async () => {
      const { report } = await check({ numRuns: runs, seed: SEED });
      if (report !== undefined) throw new Error(report);
    },
  });
}

function mayUse(name: "run"): boolean {
  return Deno.permissions.querySync({ name }).state === "granted";
}
