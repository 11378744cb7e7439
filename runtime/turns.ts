/**
 * One at a time, in the order of asking.
 *
 * @module
 */

/** A turn that one caller has, and others wait for. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /**
   * Take the turn. Whoever has it must {@linkcode Turns.pass} it.
   *
   * @param signal Ends the wait: it then rejects with the signal's reason.
   * @returns `undefined` if the turn was free, else a promise of it.
   * @throws The signal's reason, if it has aborted. The turn is not taken then.
   */
  take(signal: AbortSignal | undefined): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (this.#taken) return this.#wait(signal);
    this.#taken = true;
    return undefined;
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (signal === undefined) return promise;
    const onAbort = (): void => {
      const place = this.#waiting.indexOf(resolve);
      // Who was given the turn in this very moment is not in line any more.
      if (place >= 0) this.#waiting.splice(place, 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    return promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  /** Give the turn to whoever waits longest. */
  pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }
}
