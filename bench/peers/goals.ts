/**
 * Holds our numbers against the goals: a line each, met or not, with the number.
 *
 * @module
 */

import { CLIENTS, type Contender, SERVERS } from "./contenders.ts";
import { bestPeer, type Better, exponent } from "./report.ts";
import type { Metric, Samples } from "./samples.ts";

interface Goal {
  title: string;
  /** The number that is held against the limit, the worse of both framings. */
  value: number | undefined;
  limit: number;
  /** Whether the number has to be at most or at least the limit. */
  bound: "at most" | "at least";
}

/**
 * Judge every goal that was measured.
 *
 * @param samples What was measured.
 * @returns A Markdown list.
 */
export function goals(samples: Samples): string {
  const all = [
    ...startAndMemory(samples),
    ...oneInFlight(samples),
    ...largeMessages(samples),
    ...clients(samples),
  ];
  return all.filter(({ value }) => value !== undefined).map(print).join("");
}

function print({ title, value = NaN, limit, bound }: Goal): string {
  const met = bound === "at most" ? value <= limit : value >= limit;
  const verdict = met ? "met" : "**not met**";
  return `- ${verdict}: ${title}: ${value.toFixed(2)}, ${bound} ${limit}\n`;
}

function startAndMemory(samples: Samples): Goal[] {
  const empty = samples.median("empty", "empty");
  return [
    toBest("1. start-up ÷ best peer", "startup", "at most", 0.45, samples),
    {
      title: "1. start-up ÷ empty script",
      value: divide(worst("startup", "less", samples), empty),
      limit: 1.4,
      bound: "at most",
    },
    toBest("2. idle RSS ÷ best peer", "idle", "at most", 0.8, samples),
    toBest("2. peak RSS in bulk ÷ best", "bulkPeak", "at most", 0.5, samples),
  ];
}

function oneInFlight(samples: Samples): Goal[] {
  return [
    toBest("3. p99 ÷ best peer, first calls", "p99", "at most", 1, samples),
    toBest("3. calls/s ÷ best peer, first", "rate", "at least", 1.2, samples),
    toBest("3. p99 ÷ best peer, warm", "warmP99", "at most", 1, samples),
    toBest("3. calls/s ÷ best, warm", "warmRate", "at least", 1.2, samples),
    toBest("3. stretch: calls/s, first", "rate", "at least", 2, samples),
    toBest("3. stretch: p50, first", "p50", "at most", 1, samples),
    toBest("3. stretch: calls/s, warm", "warmRate", "at least", 2, samples),
    toBest("3. stretch: p50, warm", "warmP50", "at most", 1, samples),
    toBest("4. bulk messages/s ÷ best peer", "bulk", "at least", 3, samples),
  ];
}

function largeMessages(samples: Samples): Goal[] {
  const ours = SERVERS.filter(({ role }) => role === "us");
  const idle = worst("idle", "less", samples);
  const bytes = worst("bytes", "less", samples);
  const exponents = ours.map(({ id }) => exponent(samples, id, 64))
    .filter((value) => value !== undefined);
  return [
    {
      title: "5. exponent from 8 to 64 MiB",
      value: exponents.length === 0 ? undefined : Math.max(...exponents),
      limit: 1.1,
      bound: "at most",
    },
    ...[1, 8, 32, 64].flatMap((size): Goal[] => {
      const peak = worst(`peak${size}`, "less", samples);
      const grown = idle && peak ? peak - idle : undefined;
      return [
        {
          title: `5. ${size} MiB, time ÷ vscode-jsonrpc`,
          value: divide(
            worst(`large${size}`, "less", samples),
            samples.median(`large${size}`, "vscode"),
          ),
          limit: 1.2,
          bound: "at most",
        },
        {
          title: `5. ${size} MiB, (peak − idle RSS) ÷ message`,
          value: divide(grown, size),
          limit: 6,
          bound: "at most",
        },
      ];
    }),
    {
      title: "5. 1-byte writes, CPU ÷ bare loop (web streams)",
      value: divide(bytes, samples.median("bytes", "streams")),
      limit: 1.5,
      bound: "at most",
    },
  ];
}

function clients(samples: Samples): Goal[] {
  const to = (
    title: string,
    metric: Metric,
    bound: Goal["bound"],
    limit: number,
  ) => toBest(title, metric, bound, limit, samples, CLIENTS);
  return [
    to("6. client calls/s ÷ best, first", "clientRate", "at least", 1.2),
    to("6. client p50 ÷ best, first", "clientP50", "at most", 1),
    to("6. client calls/s ÷ best, warm", "clientWarmRate", "at least", 1.2),
    to("6. client p50 ÷ best, warm", "clientWarmP50", "at most", 1),
    {
      title: "6. a call among 1,000 queued ÷ among 10",
      value: divide(
        samples.median("queued1000", "newline"),
        samples.median("queued10", "newline"),
      ),
      limit: 1,
      bound: "at most",
    },
  ];
}

function toBest(
  title: string,
  metric: Metric,
  bound: Goal["bound"],
  limit: number,
  samples: Samples,
  among: Contender[] = SERVERS,
): Goal {
  const better = bound === "at most" ? "less" : "more";
  const best = bestPeer(samples, metric, among, better);
  const value = divide(worst(metric, better, samples), best);
  return { title, value, limit, bound };
}

/** Gives the worse of our framings. */
function worst(
  metric: Metric,
  better: Better,
  samples: Samples,
): number | undefined {
  const values = ["newline", "content-length"]
    .map((id) => samples.median(metric, id))
    .filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return better === "less" ? Math.max(...values) : Math.min(...values);
}

function divide(
  above: number | undefined,
  below: number | undefined,
): number | undefined {
  if (above === undefined || below === undefined) return undefined;
  return above / below;
}
