/**
 * The two binaries, built as `deno task compile` builds them: they do what the
 * programs do that they were made of.
 *
 * `deno compile` needs `denort`, which it downloads from dl.deno.land, or which
 * `DENORT_BIN` names. Where it cannot be had these tests are ignored.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { run, temporaryFolder } from "./_fixtures.ts";

const ROOT = `${import.meta.dirname}/..`;
const SMOKE = `${ROOT}/experiments/31-mcp-server-smoke`;
const SERVER = ["deno", "run", "--no-prompt", `${ROOT}/server.ts`];
const CLIENT = [
  "deno",
  "run",
  "--no-prompt",
  "--allow-run",
  `${ROOT}/client.ts`,
];

const ROUND_TRIP = [
  ["list"],
  ["list", "--raw"],
  ["call", "conjugate", "verb=eat", "tense=past_simple", "person=3sg"],
  ["call", "lookup_spanish", "english_form=ate"],
  ["call", "lookup_irregular_verb", "verb=go"],
  ["call", "check_subject_verb_agreement", "subject=he", "verb_form=go"],
  ["call", "conjugate", "verb=run", "tense=past_simple", "person=3sg"],
];

const obstacle = await findObstacle();
const ignore = obstacle !== "";
const because = ignore ? ` (ignored: ${obstacle})` : "";

Deno.test(
  `deno task compile:server makes a binary that answers the smoke session${because}`,
  {
    ignore,
  },
  async () => {
    await using folder = await temporaryFolder();
    const server = await compile("compile:server", folder.path);
    const input = await Deno.readFile(`${SMOKE}/input.bin`);
    assertEquals(await run([server], { input }), {
      code: 0,
      stdout: await Deno.readTextFile(`${SMOKE}/output.bin`),
      stderr: await Deno.readTextFile(`${SMOKE}/stderr.log`),
    });
  },
);

Deno.test(
  `deno task compile:client makes a binary that drives the server's${because}`,
  {
    ignore,
  },
  async () => {
    await using folder = await temporaryFolder();
    const server = await compile("compile:server", folder.path);
    const client = await compile("compile:client", folder.path);
    for (const words of ROUND_TRIP) {
      assertEquals(
        await run([client, ...words, "--", server]),
        await run([...CLIENT, ...words, "--", ...SERVER]),
        words.join(" "),
      );
    }
  },
);

Deno.test(
  `deno task compile:client makes a binary that asks for a server where it has none${because}`,
  {
    ignore,
  },
  async () => {
    await using folder = await temporaryFolder();
    const client = await compile("compile:client", folder.path);
    const { code, stdout } = await run([client, "list"]);
    assertEquals([code, stdout], [2, ""]);
  },
);

/** Why these tests cannot run here; empty if they can. */
async function findObstacle(): Promise<string> {
  const missing = (["read", "write", "run"] as const).find((name) =>
    Deno.permissions.querySync({ name }).state !== "granted"
  );
  if (missing !== undefined) return `no --allow-${missing}`;
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/empty.js`, "");
  const { code } = await run([
    ...["deno", "compile", "--quiet", "--output", `${folder.path}/empty`],
    `${folder.path}/empty.js`,
  ]);
  return code === 0 ? "" : "denort cannot be had";
}

/** Run a task of `deno.json`, its output put into the folder. */
async function compile(
  task: "compile:server" | "compile:client",
  folder: string,
): Promise<string> {
  const words = config.tasks[task].split(" ")
    .map((word) => word.replace(/^dist\//, `${folder}/`));
  const { code, stderr } = await run(words);
  assertEquals(code, 0, stderr);
  return words[words.indexOf("--output") + 1] ?? "";
}
