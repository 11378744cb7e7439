/**
 * What was measured: for each metric and contender one number a round.
 *
 * @module
 */

/** The metrics of the servers and of the clients. */
export type Metric =
  | "startup"
  | "empty"
  | "idle"
  | "rate"
  | "p50"
  | "p99"
  | "warmRate"
  | "warmP50"
  | "warmP99"
  | "bulk"
  | "bulkPeak"
  | `large${number}`
  | `peak${number}`
  | `chunks${number}`
  | "bytes"
  | "clientRate"
  | "clientP50"
  | "clientWarmRate"
  | "clientWarmP50"
  | "queued10"
  | "queued1000";

/** All samples of a run. */
export class Samples {
  #values = new Map<string, number[]>();

  /** What failed, a line each. */
  failures: string[] = [];

  /**
   * Keep one number.
   *
   * @param metric What was measured.
   * @param id The contender.
   * @param value The number, in the metric's unit.
   */
  add(metric: Metric, id: string, value: number): void {
    const key = `${metric} ${id}`;
    const values = this.#values.get(key) ?? [];
    values.push(value);
    this.#values.set(key, values);
  }

  /**
   * Take the middle of what was kept.
   *
   * @param metric What was measured.
   * @param id The contender.
   * @returns The median, or `undefined` where nothing was measured.
   */
  median(metric: Metric, id: string): number | undefined {
    const sorted = this.#values.get(`${metric} ${id}`)?.toSorted((a, b) =>
      a - b
    );
    if (sorted === undefined) return undefined;
    const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
    const high = sorted[Math.ceil((sorted.length - 1) / 2)] ?? NaN;
    return (low + high) / 2;
  }

  /**
   * Tell how far the samples lie apart.
   *
   * @param metric What was measured.
   * @param id The contender.
   * @returns Largest less smallest, as a part of the median.
   */
  spread(metric: Metric, id: string): number | undefined {
    const values = this.#values.get(`${metric} ${id}`);
    const median = this.median(metric, id);
    if (values === undefined || median === undefined) return undefined;
    return (Math.max(...values) - Math.min(...values)) / median;
  }
}
