import { assertEquals, assertThrows } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import { lookupIrregularVerb } from "../../tools/lookup_irregular_verb.ts";

const PRINCIPAL_PARTS = `
work   worked    worked   regular
play   played    played   regular
walk   walked    walked   regular
talk   talked    talked   regular
listen listened  listened regular
watch  watched   watched  regular
study  studied   studied  regular
finish finished  finished regular
start  started   started  regular
look   looked    looked   regular
want   wanted    wanted   regular
like   liked     liked    regular
be     was/were  been     irregular
have   had       had      irregular
do     did       done     irregular
go     went      gone     irregular
come   came      come     irregular
see    saw       seen     irregular
eat    ate       eaten    irregular
write  wrote     written  irregular
`.trim().split("\n").map((line) => line.split(/ +/));

for (const [verb, past, participle, kind] of PRINCIPAL_PARTS) {
  Deno.test(`lookupIrregularVerb gives the parts of ${kind} "${verb}"`, () => {
    assertEquals(
      JSON.stringify(lookupIrregularVerb.fn({ verb })),
      JSON.stringify({
        infinitive: verb,
        past_simple: past,
        past_participle: participle,
        is_irregular: kind === "irregular",
      }),
    );
  });
}

Deno.test("lookupIrregularVerb takes a verb in any case, with spaces around it", () => {
  assertEquals(
    lookupIrregularVerb.fn({ verb: " BE\t" }),
    lookupIrregularVerb.fn({ verb: "be" }),
  );
});

for (const verb of ["run", "", "went", "was/were", "__proto__", "toString"]) {
  Deno.test(`lookupIrregularVerb lists what is in scope when the verb is "${verb}"`, () => {
    assertThrows(
      () => lookupIrregularVerb.fn({ verb }),
      ToolError,
      `Cannot look up "${verb}": verbs in scope are "work", "play", "walk", `,
    );
  });
}

Deno.test("lookupIrregularVerb.outputSchema requires the four members and no other", () => {
  const { outputSchema } = lookupIrregularVerb;
  assertEquals(outputSchema?.["type"], "object");
  assertEquals(
    outputSchema?.["required"],
    ["infinitive", "past_simple", "past_participle", "is_irregular"],
  );
  assertEquals(outputSchema?.["additionalProperties"], false);
});
