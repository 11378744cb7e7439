/**
 * Measures our server and client against the peers and the limits, on this
 * machine, and prints the tables of the README.
 *
 * ```sh
 * deno task bench:peers [--quick] [--rounds N] [--rows startup,idle,call,bulk,large,client]
 * ```
 *
 * The first run installs the peers with `npm install`, into `.cache/peers`.
 * Linux only: it reads `/proc` and uses named pipes.
 *
 * @module
 */

import { type Contender, OUR_CLIENT, OUR_SERVER } from "./peers/contenders.ts";
import { goals } from "./peers/goals.ts";
import { install, PINNED as VERSIONS } from "./peers/install.ts";
import {
  CORES,
  killAll,
  PINNED as IS_PINNED,
  preparePipes,
} from "./peers/processes.ts";
import { clientTable, ratioTable, serverTable } from "./peers/report.ts";
import { measureRow, type Plan, type Row, ROWS } from "./peers/rows.ts";
import { Samples } from "./peers/samples.ts";

const USAGE =
  `Usage: deno task bench:peers [--quick] [--rounds N] [--rows ${ROWS.join()}]`;
const encoder = new TextEncoder();

interface Options {
  quick: boolean;
  rounds: number | undefined;
  rows: Row[];
}

if (import.meta.main) {
  const options = parse(Deno.args);
  if (options === undefined) {
    print(Deno.stderr, USAGE);
    Deno.exit(2);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      killAll();
      Deno.exit(130);
    });
  }
  try {
    await main(options);
  } finally {
    killAll();
  }
}

async function main(options: Options): Promise<void> {
  await install();
  await preparePipes();
  const samples = new Samples();
  const plan = makePlan(options);
  const begun = performance.now();
  for (const row of options.rows) await measureRow(row, plan, samples);
  const seconds = Math.round((performance.now() - begun) / 1000);
  print(Deno.stdout, `${method(plan, options, seconds)}\n`);
  const empty = samples.median("empty", "empty");
  if (empty !== undefined) {
    print(
      Deno.stdout,
      `\`deno run\` of an empty script: ${empty.toFixed(1)} ms.\n`,
    );
  }
  print(Deno.stdout, serverTable(samples, plan.sizes));
  const clients = clientTable(samples);
  if (clients !== "") {
    print(Deno.stdout, `Clients, against one fixed server:\n\n${clients}`);
  }
  print(Deno.stdout, `README.md's table:\n\n${ratioTable(samples)}`);
  print(Deno.stdout, `Goals:\n\n${goals(samples) || "- none measured\n"}`);
  const missing = [OUR_SERVER, OUR_CLIENT].filter((path) => !exists(path))
    .map((path) => `skipped: ${path.split("/").at(-1)} does not exist`);
  for (const note of new Set([...missing, ...samples.failures])) {
    print(Deno.stdout, `- ${note}`);
  }
}

function makePlan({ quick, rounds }: Options): Plan {
  const us = exists(OUR_SERVER);
  const ourClient = exists(OUR_CLIENT);
  const usual = quick
    ? { startup: 3, idle: 1, call: 1, bulk: 1, large: 1, client: 1 }
    : { startup: 15, idle: 3, call: 3, bulk: 3, large: 3, client: 3 };
  const given = Object.fromEntries(ROWS.map((row) => [row, rounds]));
  return {
    rounds: rounds === undefined ? usual : { ...usual, ...given },
    calls: quick ? 2_000 : 5_000,
    warmup: quick ? 2_000 : 15_000,
    bulk: quick ? 20_000 : 100_000,
    sizes: [1, 8, 32, 64],
    quadraticLimit: quick ? 8 : 64,
    takesPart({ role, command }: Contender): boolean {
      if (role !== "us") return true;
      return command.includes(OUR_SERVER) ? us : ourClient;
    },
    onRound(row, round): void {
      print(Deno.stderr, `${row}, round ${round + 1}`);
    },
  };
}

/** Says how it was measured and what not to trust. */
function method(plan: Plan, { quick }: Options, seconds: number): string {
  const count = (value: number) => value.toLocaleString("en-US");
  const versions = Object.entries(VERSIONS)
    .map(([name, version]) => `${name} ${version}`).join(", ");
  const rounds = Object.entries(plan.rounds)
    .map(([row, rounds]) => `${row} ${rounds}`).join(", ");
  return `How: deno ${Deno.version.deno}; ${versions}. Every round runs each \
contender once before the next begins (rounds: ${rounds}); the numbers are medians \
over the rounds, all in ${seconds} s${
    quick ? ", quick: good for nothing but a look" : ""
  }. \
One driver for all, with reads and writes that block, on named pipes; driver and \
server share one core${
    IS_PINNED
      ? ` (taskset, core ${CORES[0]})`
      : " if the machine so likes: there is no taskset"
  }, \
but for start-up and 1-byte writes. Calls: "first" are calls 2 to ${
    count(plan.calls + 1)
  } of a \
fresh process, "warm" as many after ${count(plan.warmup)} more. Bulk: ${
    count(plan.bulk)
  } calls \
through \`cat\`. Large messages: one string in \`_meta\`, ASCII, fresh process; those whose cost is \
quadratic run them once. 1-byte writes: a byte every 30 µs, CPU time in steps of 10 ms. Node peers \
run without NODE_EXTRA_CA_CERTS and validate arguments, vscode-jsonrpc and the bare loops apart.

What not to trust: absolute numbers, since machines differ and this one may be shared; \
differences under a tenth; p99, more than all. How long a process has run decides more \
than who wrote it: node's peers gain threefold and more from the first calls to the warm ones. A ratio \
across that border means nothing.`;
}

function parse(args: string[]): Options | undefined {
  const options: Options = { quick: false, rounds: undefined, rows: [...ROWS] };
  for (let at = 0; at < args.length; at++) {
    if (args[at] === "--quick") {
      options.quick = true;
    } else if (args[at] === "--rounds") {
      options.rounds = Number(args[++at]);
      if (!Number.isInteger(options.rounds) || options.rounds < 1) return;
    } else if (args[at] === "--rows") {
      const wanted = args[++at]?.split(",") ?? [];
      if (!wanted.every((row) => ROWS.includes(row as Row))) return;
      options.rows = ROWS.filter((row) => wanted.includes(row));
      if (options.rows.length === 0) return;
    } else return;
  }
  return options;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function print(to: Pick<typeof Deno.stdout, "writeSync">, text: string): void {
  let bytes = encoder.encode(`${text}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}
