import { assertEquals } from "@std/assert";
import { Breather } from "../../runtime/breather.ts";

Deno.test("Breather.breathe() asks for nothing in a short loop", () => {
  const breather = new Breather();
  for (let i = 0; i < 10; i++) assertEquals(breather.breathe(), undefined);
});

Deno.test("Breather.breathe() lets a timer fire in a loop that never waits", async () => {
  const breather = new Breather();
  let fired = false;
  const timer = setTimeout(() => fired = true, 5);
  const end = performance.now() + 5000;
  while (!fired && performance.now() < end) await breather.breathe();
  clearTimeout(timer);
  assertEquals(fired, true);
});
