/**
 * Lets timers and signals be heard in a loop of reads: one that finds bytes at
 * once, as of a peer that floods us, never goes back to the event loop.
 *
 * @module
 */

/** How long a loop may go on without a breath, in milliseconds. */
const MAX_STRETCH_MS = 50;

/** Tells a loop when to take a breath. */
export class Breather {
  #since = performance.now();

  /**
   * Take a breath, if it is time to.
   *
   * @returns `undefined` if it is not, else a promise to wait for.
   */
  breathe(): Promise<void> | undefined {
    return performance.now() - this.#since > MAX_STRETCH_MS
      ? this.#pause()
      : undefined;
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#since = performance.now();
  }
}
