import { assertEquals, assertRejects } from "@std/assert";
import { Turns } from "../../runtime/turns.ts";

Deno.test("Turns.take() gives the turn in the order of asking", async () => {
  const turns = new Turns();
  const order: number[] = [];
  const all = [1, 2, 3].map(async (n) => {
    await turns.take(undefined);
    order.push(n);
    turns.pass();
  });
  await Promise.all(all);
  assertEquals(order, [1, 2, 3]);
});

Deno.test("Turns.take() rejects at once when its signal has aborted, and takes no turn", async () => {
  const turns = new Turns();
  const signal = AbortSignal.abort(new Error("too late"));
  await assertRejects(async () => await turns.take(signal), Error, "too late");
  await turns.take(undefined);
});

Deno.test("Turns.take() leaves the queue when its signal aborts, and the others move up", async () => {
  const turns = new Turns();
  await turns.take(undefined);
  const controller = new AbortController();
  const aborted = turns.take(controller.signal);
  const next = turns.take(undefined);
  controller.abort(new Error("changed my mind"));
  await assertRejects(async () => await aborted, Error, "changed my mind");
  turns.pass();
  await next;
});

Deno.test("Turns.take() ignores a signal that aborts once the turn was given", async () => {
  const turns = new Turns();
  await turns.take(undefined);
  const controller = new AbortController();
  const second = turns.take(controller.signal);
  turns.pass();
  await second;
  controller.abort();
  turns.pass();
  await turns.take(undefined);
});
