import { assertEquals, assertThrows } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import { lookupSpanish } from "../../tools/lookup_spanish.ts";
import table from "../../tools/conjugation_table.json" with { type: "json" };

const TENSES = [
  "infinitive",
  "present_simple",
  "past_simple",
  "past_participle",
  "simple_future",
] as const;

/** The rule as the contract words it, cell by cell: 3sg is the third of a row. */
function slowSpanish(form: string): unknown {
  for (const tense of TENSES) {
    for (const person of [2, 0, 1]) {
      for (const { english_forms, spanish_forms } of Object.values(table)) {
        if (english_forms[tense][person] === form) {
          return spanish_forms[tense][person];
        }
      }
    }
  }
  throw new Error(`The table has no form "${form}"`);
}

Deno.test("lookupSpanish takes the earliest tense, then 3sg, 1sg, 2sg, for every form", () => {
  const forms = Object.values(table)
    .flatMap(({ english_forms }) => Object.values(english_forms).flat());
  assertEquals(forms.length, 300);
  for (const form of forms) {
    assertEquals(
      lookupSpanish.fn({ english_form: form }),
      slowSpanish(form),
      form,
    );
  }
});

const SPOT_CHECKS: [form: string, spanish: string, why: string][] = [
  ["ate", "comió", "the past has one form, 3sg wins"],
  ["work", "trabajar", "the infinitive comes before the present"],
  ["worked", "trabajó", "the past comes before the participle"],
  ["went", "fue", "3sg comes before 1sg"],
  ["come", "venir", "the infinitive comes before the participle"],
  ["am", "soy", "1sg only"],
  ["are", "eres", "2sg only"],
  ["is", "es", "3sg only"],
  ["was", "fue", "3sg comes before 1sg"],
  ["were", "fuiste", "2sg only"],
  ["been", "sido", "the participle only"],
  ["has", "tiene", "3sg only"],
  ["likes", "le gusta", "two Spanish words"],
  ["written", "escrito", "the participle only"],
  ["will eat", "comerá", "the future has one form, 3sg wins"],
  ["will be", "será", "the future has one form, 3sg wins"],
];

for (const [form, spanish, why] of SPOT_CHECKS) {
  Deno.test(`lookupSpanish gives "${spanish}" for "${form}": ${why}`, () => {
    assertEquals(lookupSpanish.fn({ english_form: form }), spanish);
  });
}

Deno.test("lookupSpanish takes a form in any case, with spaces around it", () => {
  assertEquals(lookupSpanish.fn({ english_form: " Will EAT\r\n" }), "comerá");
});

Deno.test("lookupSpanish gives composed letters", () => {
  assertEquals(lookupSpanish.fn({ english_form: "ate" }), "comi\u00f3");
});

for (
  const form of [
    "ran",
    "",
    "comió",
    "to eat",
    "will  eat",
    "__proto__",
    "valueOf",
  ]
) {
  Deno.test(`lookupSpanish says what it knows when the form is "${form}"`, () => {
    assertThrows(
      () => lookupSpanish.fn({ english_form: form }),
      ToolError,
      `Cannot look up "${form}": expected a form of one of "work", "play", `,
    );
  });
}

Deno.test("lookupSpanish has no outputSchema, since its result is a string", () => {
  assertEquals(lookupSpanish.outputSchema, undefined);
});
