import { assertEquals, assertThrows } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import { conjugate } from "../../tools/conjugate.ts";
import table from "../../tools/conjugation_table.json" with { type: "json" };

const PERSONS = ["1sg", "2sg", "3sg"];
const IN_SCOPE =
  '"work", "play", "walk", "talk", "listen", "watch", "study", ' +
  '"finish", "start", "look", "want", "like", "be", "have", "do", "go", ' +
  '"come", "see", "eat", "write"';

Deno.test("conjugate gives the form of every cell", () => {
  for (const [verb, { english_forms }] of Object.entries(table)) {
    for (const [tense, forms] of Object.entries(english_forms)) {
      assertEquals(
        PERSONS.map((person) => conjugate.fn({ verb, tense, person })),
        forms,
        `${verb} ${tense}`,
      );
    }
  }
});

Deno.test("conjugate gives a bare string", () => {
  assertEquals(
    conjugate.fn({ verb: "eat", tense: "past_simple", person: "3sg" }),
    "ate",
  );
});

Deno.test("conjugate takes a verb in any case, with spaces around it", () => {
  assertEquals(
    conjugate.fn({ verb: " Go\n", tense: "present_simple", person: "3sg" }),
    "goes",
  );
});

for (
  const verb of [
    "run",
    "",
    "ate",
    "to eat",
    "comer",
    "__proto__",
    "constructor",
  ]
) {
  Deno.test(`conjugate lists what is in scope when the verb is "${verb}"`, () => {
    const error = assertThrows(
      () => conjugate.fn({ verb, tense: "past_simple", person: "3sg" }),
      ToolError,
    );
    assertEquals(
      error.message,
      `Cannot conjugate "${verb}": verbs in scope are ${IN_SCOPE}`,
    );
  });
}

Deno.test("conjugate repeats a foreign verb without its control characters", () => {
  assertThrows(
    () =>
      conjugate.fn({ verb: "r\u0000n", tense: "infinitive", person: "1sg" }),
    ToolError,
    String.raw`Cannot conjugate "r\u0000n": verbs in scope are`,
  );
});

Deno.test("conjugate.inputSchema has the tenses and persons as enums", () => {
  assertEquals(conjugate.inputSchema["required"], ["verb", "tense", "person"]);
  const { tense, person } = conjugate.inputSchema["properties"] as Record<
    string,
    Record<string, unknown>
  >;
  assertEquals(tense?.["enum"], [
    "infinitive",
    "present_simple",
    "past_simple",
    "past_participle",
    "simple_future",
  ]);
  assertEquals(person?.["enum"], PERSONS);
});

Deno.test("conjugate.inputSchema has the verb as a plain string with the twenty as examples", () => {
  const { verb } = conjugate.inputSchema["properties"] as Record<
    string,
    Record<string, unknown>
  >;
  assertEquals(Object.keys(verb ?? {}).sort(), [
    "description",
    "examples",
    "type",
  ]);
  assertEquals(verb?.["type"], "string");
  assertEquals(verb?.["examples"], Object.keys(table));
});

Deno.test("conjugate has no outputSchema, since its result is a string", () => {
  assertEquals(conjugate.outputSchema, undefined);
});
