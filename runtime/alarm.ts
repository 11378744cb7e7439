/**
 * A time limit that is set anew for each request, at the cost of a look at the
 * clock: setting and clearing a timer costs more than all else in a call.
 *
 * @module
 */

/** Rings once its time is over, unless it was cleared or set anew before. */
export class Alarm {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer fires, and when the alarm is due, by `performance.now()`. */
  #firesAt = Infinity;
  #dueAt = Infinity;
  #ring: () => void = () => {};

  /**
   * Set the alarm, in place of what it was set to.
   *
   * @param timeoutMs How long from now, in milliseconds.
   * @param ring What to do then.
   */
  set(timeoutMs: number, ring: () => void): void {
    const now = performance.now();
    this.#ring = ring;
    this.#dueAt = now + timeoutMs;
    // A timer that fires earlier is left alone: it will look at the clock.
    if (this.#dueAt < this.#firesAt) this.#arm(now);
  }

  /** Let it not ring. The timer stays, for the next time. */
  clear(): void {
    this.#dueAt = Infinity;
  }

  /** Clear it, and the timer too. */
  stop(): void {
    this.clear();
    clearTimeout(this.#timer);
    this.#firesAt = Infinity;
  }

  #arm(now: number): void {
    clearTimeout(this.#timer);
    this.#firesAt = this.#dueAt;
    this.#timer = setTimeout(() => this.#look(), this.#dueAt - now);
  }

  #look(): void {
    this.#firesAt = Infinity;
    if (this.#dueAt === Infinity) return;
    const now = performance.now();
    if (this.#dueAt > now) return this.#arm(now);
    this.clear();
    this.#ring();
  }
}
