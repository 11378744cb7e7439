import { assertEquals, assertRejects } from "@std/assert";
import { Turns } from "../../runtime/turns.ts";

/** Take a turn, note it, and leave passing it to the caller. */
function taker(
  turns: Turns,
  log: string[],
): (name: string, signal?: AbortSignal) => Promise<void> {
  return async (name, signal) => {
    await turns.take(signal);
    log.push(name);
  };
}

/** Let everything run that does not wait for a turn. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

Deno.test("Turns.take() gives the turn at once when nobody has it", async () => {
  const turns = new Turns();
  await turns.take(undefined);
  turns.pass();
  await turns.take(undefined);
});

Deno.test("Turns.take() waits until the turn is passed, in the order of asking", async () => {
  const turns = new Turns();
  const log: string[] = [];
  const take = taker(turns, log);
  const taken = [take("a"), take("b"), take("c")];
  await settle();
  assertEquals(log, ["a"]);
  turns.pass();
  await settle();
  assertEquals(log, ["a", "b"]);
  turns.pass();
  await Promise.all(taken);
  assertEquals(log, ["a", "b", "c"]);
});

Deno.test("Turns.take() rejects at once when its signal has aborted", async () => {
  const turns = new Turns();
  const signal = AbortSignal.abort(new Error("no"));
  await assertRejects(async () => await turns.take(signal), Error, "no");
  await turns.take(undefined);
});

Deno.test("Turns.take() leaves the line when its signal aborts", async () => {
  const turns = new Turns();
  const log: string[] = [];
  const take = taker(turns, log);
  const controller = new AbortController();
  await take("a");
  const left = take("b", controller.signal);
  const last = take("c");
  controller.abort(new Error("enough"));
  await assertRejects(() => left, Error, "enough");
  turns.pass();
  await last;
  assertEquals(log, ["a", "c"]);
});

Deno.test("Turns.take() keeps the others in line when its signal aborts as it is given the turn", async () => {
  const turns = new Turns();
  const log: string[] = [];
  const take = taker(turns, log);
  const controller = new AbortController();
  await take("a");
  const given = take("b", controller.signal);
  const last = take("c");
  turns.pass();
  controller.abort();
  await given;
  turns.pass();
  await last;
  assertEquals(log, ["a", "b", "c"]);
});

Deno.test("Turns.take() does not mind a signal that aborts later", async () => {
  const turns = new Turns();
  const controller = new AbortController();
  await turns.take(controller.signal);
  controller.abort();
  turns.pass();
  await turns.take(undefined);
});
