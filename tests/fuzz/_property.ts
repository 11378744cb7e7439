/**
 * What a fuzzed property is, and how one is run: a few times, always the same,
 * in the tests; for as long as one likes in `run.ts`.
 *
 * @module
 */

import fc from "npm:fast-check@4.11.0";

/** A sentence that must hold for any input, and how to try it. */
export interface Property {
  /** The symbol, then what it does. */
  name: string;
  /** How many runs take about half a second. */
  runs: number;
  /** What it must be allowed, if anything. */
  needs?: "run";
  /** Try it. */
  check: (parameters: fc.Parameters<unknown>) => Promise<Outcome>;
}

/** What came of trying a property. */
export interface Outcome {
  /** How many inputs were tried. */
  runs: number;
  /** The seed, the path and the smallest input that breaks it, if one does. */
  report: string | undefined;
}

/**
 * Make a property.
 *
 * @param name The symbol, then what it does.
 * @param runs How many runs take about half a second.
 * @param property What must hold.
 */
export function property<Ts>(
  name: string,
  runs: number,
  property: fc.IRawProperty<Ts>,
): Property {
  return {
    name,
    runs,
    check: async (parameters) => {
      const details = await fc.check(property, {
        ...parameters as fc.Parameters<Ts>,
        includeErrorInReport: true,
      });
      const report = await fc.asyncDefaultReportMessage(details);
      return { runs: details.numRuns, report };
    },
  };
}

/** Where a stream is cut: not at all, at each byte, or at some. */
export type Cut = "whole" | "bytes" | number[];

/** Any way of cutting. */
export const cuts: fc.Arbitrary<Cut> = fc.oneof(
  fc.constant<Cut>("whole"),
  fc.constant<Cut>("bytes"),
  fc.array(fc.nat({ max: 2 ** 16 }), { maxLength: 12 }),
);

/** The positions, ascending, in a stream of some length. */
export function positions(cut: Cut, length: number): number[] {
  if (cut === "whole") return [];
  if (cut === "bytes") return Array.from({ length }, (_, at) => at);
  return cut.map((at) => at % (length + 1)).sort((a, b) => a - b);
}
