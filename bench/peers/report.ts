/**
 * Prints what was measured: Markdown tables, with our ratio to the best peer.
 *
 * @module
 */

import { CLIENTS, type Contender, SERVERS } from "./contenders.ts";
import type { Metric, Samples } from "./samples.ts";

/** Which way is better. */
export type Better = "less" | "more";

interface Line {
  title: string;
  metrics: Metric[];
  better: Better;
  digits: number;
  /** Whether the exponent of the growth from 8 MiB follows the number. */
  exponentOf?: number;
}

const CLIENT_LINES: Line[] = [
  line("calls/s, the first", "clientRate", "more", 0),
  line("… p50, µs", "clientP50", "less", 1),
  line("calls/s, when warm", "clientWarmRate", "more", 0),
  line("… p50, µs", "clientWarmP50", "less", 1),
  line("10 queued calls, µs each", "queued10", "less", 1),
  line("1,000 queued calls, µs each", "queued1000", "less", 1),
];

/**
 * Print the table of the servers.
 *
 * @param samples What was measured.
 * @param sizes The lengths of the large messages, in MiB.
 * @returns The table, in Markdown.
 */
export function serverTable(samples: Samples, sizes: number[]): string {
  return table(samples, SERVERS, [
    line("start-up to first answer, ms", "startup", "less", 0),
    line("idle RSS, MiB", "idle", "less", 0),
    line("one call in flight, calls/s, the first", "rate", "more", 0),
    {
      ...line("… p50 / p99, µs", "p50", "less", 1),
      metrics: ["p50", "p99"],
    },
    line("… calls/s, when warm", "warmRate", "more", 0),
    {
      ...line("… p50 / p99, µs", "warmP50", "less", 1),
      metrics: ["warmP50", "warmP99"],
    },
    line("piped requests, messages/s", "bulk", "more", 0),
    line("… peak RSS, MiB", "bulkPeak", "less", 0),
    ...sizes.flatMap((size): Line[] => [
      {
        ...line(
          `one message of ${size} MiB, ms${size > 8 ? " (exponent)" : ""}`,
          `large${size}`,
          "less",
          0,
        ),
        ...(size > 8 ? { exponentOf: size } : {}),
      },
      ...(size === 8 || size === 64
        ? [line("… in writes of 64 KiB, ms", `chunks${size}`, "less", 0)]
        : []),
      line("… peak RSS, MiB", `peak${size}`, "less", 0),
    ]),
    line("64 KiB in writes of 1 byte, CPU ms", "bytes", "less", 0),
  ]);
}

/**
 * Print the table of the clients.
 *
 * @param samples What was measured.
 * @returns The table, in Markdown.
 */
export function clientTable(samples: Samples): string {
  return table(samples, CLIENTS, CLIENT_LINES);
}

/** What README.md shows, of servers and of clients. */
const README_LINES: [Contender[], Line[]][] = [
  [SERVERS, [
    line("start-up to the first answer", "startup", "less", 0),
    line("idle memory", "idle", "less", 0),
    line("calls/s, the first of a process", "rate", "more", 0),
    line("… their p99", "p99", "less", 0),
    line("calls/s, when warm", "warmRate", "more", 0),
    line("piped requests, messages/s", "bulk", "more", 0),
    line("… peak memory", "bulkPeak", "less", 0),
    line("one message of 64 MiB, time", "large64", "less", 0),
    line("… peak memory", "peak64", "less", 0),
  ]],
  [CLIENTS, [
    line("client, calls/s, the first", "clientRate", "more", 0),
    line("client, calls/s, when warm", "clientWarmRate", "more", 0),
  ]],
];

/**
 * Print README.md's table: our ratios to the best peer.
 *
 * @param samples What was measured.
 * @returns The table, in Markdown.
 */
export function ratioTable(samples: Samples): string {
  const rows = README_LINES.flatMap(([contenders, lines]) =>
    lines.map((line) => {
      const [first, second] = contenders.filter(({ role }) => role === "us")
        .map(({ id }) => ratio(samples, line, id, contenders));
      return [line.title, first ?? "–", second ?? "–"];
    })
  );
  return [
    ["us ÷ best peer", "lines", "headers"],
    ["---", "---:", "---:"],
    ...rows,
  ]
    .map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/**
 * Find the best peer, us and the limits left out.
 *
 * @param samples What was measured.
 * @param metric The metric.
 * @param contenders Among whom.
 * @param better Which way is better.
 * @returns Its number, or `undefined` where none was measured.
 */
export function bestPeer(
  samples: Samples,
  metric: Metric,
  contenders: Contender[],
  better: Better,
): number | undefined {
  const values = contenders.filter(({ role }) => role === "peer")
    .map(({ id }) => samples.median(metric, id))
    .filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return better === "less" ? Math.min(...values) : Math.max(...values);
}

/**
 * Tell how the time of a large message grows.
 *
 * @param samples What was measured.
 * @param id The contender.
 * @param size The length to compare with 8 MiB, in MiB.
 * @returns The exponent: 1 is linear, 2 the square.
 */
export function exponent(
  samples: Samples,
  id: string,
  size: number,
): number | undefined {
  const small = samples.median("large8", id);
  const large = samples.median(`large${size}`, id);
  if (small === undefined || large === undefined) return undefined;
  return Math.log(large / small) / Math.log(size / 8);
}

function line(
  title: string,
  metric: Metric,
  better: Better,
  digits: number,
): Line {
  return { title, metrics: [metric], better, digits };
}

function table(
  samples: Samples,
  contenders: Contender[],
  lines: Line[],
): string {
  const ours = contenders.filter(({ role }) => role === "us");
  const rows = [
    [
      "",
      ...contenders.map(({ title }) => title),
      ...ours.map(({ title }) => `${title} ÷ best peer`),
    ],
    ["---", ...[...contenders, ...ours].map(() => "---:")],
  ];
  for (const line of lines) {
    const cells = contenders.map(({ id }) => cell(samples, line, id));
    if (cells.every((text) => text === "–")) continue;
    const ratios = ours.map(({ id }) => ratio(samples, line, id, contenders));
    rows.push([line.title, ...cells, ...ratios]);
  }
  if (rows.length === 2) return "";
  return rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function cell(samples: Samples, line: Line, id: string): string {
  const texts = line.metrics.map((metric) => {
    const median = samples.median(metric, id);
    return median === undefined ? "–" : format(median, line.digits);
  });
  if (texts.every((text) => text === "–")) return "–";
  const power = line.exponentOf && exponent(samples, id, line.exponentOf);
  const suffix = power === undefined ? "" : ` (${power.toFixed(2)})`;
  return texts.join(" / ") + suffix;
}

function ratio(
  samples: Samples,
  { metrics, better }: Line,
  id: string,
  contenders: Contender[],
): string {
  return metrics.map((metric) => {
    const best = bestPeer(samples, metric, contenders, better);
    const median = samples.median(metric, id);
    if (best === undefined || median === undefined) return "–";
    return (median / best).toFixed(2);
  }).join(" / ");
}

function format(value: number, digits: number): string {
  // Three digits are all that a shared machine vouches for.
  const scale = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 2);
  return (Math.round(value / scale) * scale).toLocaleString("en-US", {
    maximumFractionDigits: digits,
  });
}
