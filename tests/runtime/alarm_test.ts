import { assertEquals, assertGreaterOrEqual } from "@std/assert";
import { Alarm } from "../../runtime/alarm.ts";

/** Rings that were heard, and a promise of the next. */
function bell(): {
  rings: string[];
  ring: (name: string) => () => void;
  next: Promise<void>;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  const rings: string[] = [];
  const ring = (name: string) => (): void => {
    rings.push(name);
    resolve();
  };
  return { rings, ring, next: promise };
}

Deno.test("Alarm.set() rings once the time is over, not before", async () => {
  const alarm = new Alarm();
  const { rings, ring, next } = bell();
  const start = performance.now();
  alarm.set(20, ring("a"));
  await next;
  assertEquals(rings, ["a"]);
  assertGreaterOrEqual(performance.now() - start, 19);
});

Deno.test("Alarm.set() takes the place of what was set, for a later time and for an earlier one", async () => {
  for (const [first, second] of [[5, 30], [60_000, 5]] as const) {
    const alarm = new Alarm();
    const { rings, ring, next } = bell();
    alarm.set(first, ring("first"));
    alarm.set(second, ring("second"));
    await next;
    assertEquals(rings, ["second"]);
    alarm.stop();
  }
});

Deno.test("Alarm.clear() silences it, and it can be set again", async () => {
  const alarm = new Alarm();
  const { rings, ring, next } = bell();
  alarm.set(5, ring("cleared"));
  alarm.clear();
  alarm.set(20, ring("kept"));
  await next;
  assertEquals(rings, ["kept"]);
});

Deno.test("Alarm.stop() leaves no timer behind", () => {
  const alarm = new Alarm();
  alarm.set(60_000, () => {});
  alarm.stop();
});
