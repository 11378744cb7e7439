/**
 * What is measured: each row runs every contender once a round, one after the
 * other, so that a slow minute of the machine hits all of them.
 *
 * @module
 */

import {
  CLIENTS,
  type Contender,
  EMPTY,
  FAST_SERVER,
  SERVERS,
} from "./contenders.ts";
import type { Numbers } from "./driver.ts";
import { CACHE } from "./install.ts";
import { CORES, drive, pin, run, timeStart } from "./processes.ts";
import type { Metric, Samples } from "./samples.ts";
import { call, concat, FIRST_ID, type Framing } from "./wire.ts";

/** The rows, in their order. */
export const ROWS = [
  "startup",
  "idle",
  "call",
  "bulk",
  "large",
  "client",
] as const;
/** One row. */
export type Row = typeof ROWS[number];

/** How much is done. */
export interface Plan {
  /** How often each row is run, by row. */
  rounds: Record<Row, number>;
  /** Calls with one in flight that are timed, at first and again later. */
  calls: number;
  /** Calls in between, which warm the compilers. */
  warmup: number;
  /** Requests in bulk. */
  bulk: number;
  /** Lengths of a large message, in MiB. */
  sizes: number[];
  /** The longest that the quadratic ones are given, in MiB. */
  quadraticLimit: number;
  /** Who takes part, by role and file. */
  takesPart(contender: Contender): boolean;
  /** Called before each round. */
  onRound(row: Row, round: number): void;
}

/** The longest message, less what keeps it under our limit of 64 MiB. */
const SLACK = 1024;
const MEBIBYTE = 1024 * 1024;
const job = {
  warmup: 0,
  calls: 0,
  size: 0,
  chunk: Number.MAX_SAFE_INTEGER,
  file: "",
};

/**
 * Measure one row.
 *
 * @param row The row.
 * @param plan How much is done.
 * @param samples Where the numbers go.
 */
export async function measureRow(
  row: Row,
  plan: Plan,
  samples: Samples,
): Promise<void> {
  const all = row === "client" ? CLIENTS : SERVERS;
  const contenders = all.filter(plan.takesPart);
  if (row === "bulk") await writeBulk(plan.bulk);
  for (let round = 0; round < plan.rounds[row]; round++) {
    plan.onRound(row, round);
    if (row === "startup") await measureEmpty(samples);
    for (const contender of contenders) {
      try {
        await measures[row](contender, plan, samples, round);
      } catch (error) {
        const { message } = error as Error;
        samples.failures.push(`${row}, ${contender.title}: ${message}`);
      }
    }
  }
}

const measures: Record<
  Row,
  (
    contender: Contender,
    plan: Plan,
    samples: Samples,
    round: number,
  ) => Promise<void>
> = {
  async startup(contender, _plan, samples): Promise<void> {
    samples.add("startup", contender.id, await timeStart(contender, 10_000));
  },

  async idle(contender, _plan, samples): Promise<void> {
    const limits = { timeoutMs: 10_000, cores: "one" } as const;
    const { rss } = await drive(contender, { ...job, kind: "idle" }, limits);
    samples.add("idle", contender.id, rss ?? NaN);
  },

  async call(contender, plan, samples): Promise<void> {
    const numbers = await drive(contender, {
      ...job,
      kind: "call",
      warmup: plan.warmup,
      calls: plan.calls,
    }, { timeoutMs: 60_000, cores: "one" });
    addAll(samples, contender, numbers, [
      "rate",
      "p50",
      "p99",
      "warmRate",
      "warmP50",
      "warmP99",
    ]);
  },

  async bulk(contender, plan, samples): Promise<void> {
    const { rate, peak } = await drive(contender, {
      ...job,
      kind: "bulk",
      calls: plan.bulk,
      file: bulkFile(contender.framing),
    }, { timeoutMs: 60_000, cores: "one" });
    samples.add("bulk", contender.id, rate ?? NaN);
    samples.add("bulkPeak", contender.id, peak ?? NaN);
  },

  async large(contender, plan, samples, round): Promise<void> {
    for (const size of plan.sizes) {
      // Half a minute each: once is enough to tell a square from a line.
      if (contender.quadratic && round > 0 && size > 8) continue;
      if (contender.quadratic && size > plan.quadraticLimit) continue;
      await measureLarge(contender, size, samples);
    }
    await measureBytes(contender, samples, round);
  },

  async client(contender, plan, samples): Promise<void> {
    const server = JSON.stringify(FAST_SERVER);
    const command = [
      ...contender.command,
      server,
      String(plan.calls),
      String(plan.warmup),
    ];
    const { stdout } = await run(pin(command, CORES[0]), 60_000);
    addAll(samples, contender, JSON.parse(stdout), [
      "clientRate",
      "clientP50",
      "clientWarmRate",
      "clientWarmP50",
      "queued10",
      "queued1000",
    ]);
  },
};

function addAll(
  samples: Samples,
  contender: Contender,
  numbers: Numbers,
  metrics: Metric[],
): void {
  for (const metric of metrics) {
    samples.add(metric, contender.id, numbers[metric] ?? NaN);
  }
}

async function measureEmpty(samples: Samples): Promise<void> {
  samples.add("empty", "empty", (await run(EMPTY, 10_000)).time);
}

async function measureLarge(
  contender: Contender,
  size: number,
  samples: Samples,
): Promise<void> {
  const limits = { timeoutMs: 90_000, cores: "one" } as const;
  const large = {
    ...job,
    kind: "large",
    warmup: 20,
    size: size * MEBIBYTE - SLACK,
  } as const;
  const { time, peak } = await drive(contender, large, limits);
  samples.add(`large${size}`, contender.id, time ?? NaN);
  samples.add(`peak${size}`, contender.id, peak ?? NaN);
  if (contender.quadratic || (size !== 8 && size !== 64)) return;
  const chunk = 64 * 1024;
  const chunks = await drive(contender, { ...large, chunk }, limits);
  samples.add(`chunks${size}`, contender.id, chunks["time"] ?? NaN);
}

async function measureBytes(
  contender: Contender,
  samples: Samples,
  round: number,
): Promise<void> {
  if (round > (contender.role === "peer" ? 0 : 1)) return;
  const { cpu } = await drive(contender, {
    ...job,
    kind: "bytes",
    warmup: 200,
    size: 64 * 1024,
  }, { timeoutMs: 60_000, cores: "two" });
  samples.add("bytes", contender.id, cpu ?? NaN);
}

function bulkFile(framing: Framing): string {
  return `${CACHE}/bulk.${framing}`;
}

async function writeBulk(count: number): Promise<void> {
  for (const framing of ["newline", "content-length"] as const) {
    const ids = Array.from({ length: count }, (_, at) => FIRST_ID + at);
    const calls = ids.map((id) => call(id, framing));
    await Deno.writeFile(bulkFile(framing), concat(...calls));
  }
}
