import { assertEquals, assertThrows } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import { checkSubjectVerbAgreement } from "../../tools/check_subject_verb_agreement.ts";
import table from "../../tools/conjugation_table.json" with { type: "json" };

function check(subject: string, verb_form: string): unknown {
  return checkSubjectVerbAgreement.fn({ subject, verb_form });
}

const SUBJECTS = [["I", 0], ["you", 1], ["he", 2], ["she", 2], [
  "it",
  2,
]] as const;
const PERSONS = ["1sg", "2sg", "3sg"] as const;
const FINITE = ["present_simple", "past_simple", "simple_future"] as const;
const NON_FINITE = ["infinitive", "past_participle"] as const;

/** The rule as the contract words it: row by row, no index. */
function slowCheck(subject: number, form: string): unknown {
  const person = PERSONS[subject];
  const verbs = Object.values(table).map((verb) => verb.english_forms);
  for (const tense of FINITE) {
    for (const forms of verbs) {
      if (forms[tense][subject] === form) {
        return { agrees: true, expected: form, tense, person };
      }
    }
  }
  for (const tense of FINITE) {
    for (const forms of verbs) {
      if (forms[tense].includes(form)) {
        return {
          agrees: false,
          expected: forms[tense][subject],
          tense,
          person,
        };
      }
    }
  }
  for (const tense of NON_FINITE) {
    for (const forms of verbs) {
      if (forms[tense].includes(form)) {
        return { agrees: false, expected: null, tense, person };
      }
    }
  }
  throw new Error(`The table has no form "${form}"`);
}

Deno.test("checkSubjectVerbAgreement follows the rule for every subject and form", () => {
  const forms = new Set(
    Object.values(table).flatMap((verb) =>
      Object.values(verb.english_forms).flat()
    ),
  );
  for (const [subject, index] of SUBJECTS) {
    for (const form of forms) {
      assertEquals(
        JSON.stringify(check(subject, form)),
        JSON.stringify(slowCheck(index, form)),
        `${subject} ${form}`,
      );
    }
  }
});

const SPOT_CHECKS: [
  subject: string,
  form: string,
  agrees: boolean,
  expected: string | null,
  tense: string,
  person: string,
][] = [
  ["he", "go", false, "goes", "present_simple", "3sg"],
  ["he", "goes", true, "goes", "present_simple", "3sg"],
  ["I", "goes", false, "go", "present_simple", "1sg"],
  ["you", "go", true, "go", "present_simple", "2sg"],
  ["she", "went", true, "went", "past_simple", "3sg"],
  ["it", "will go", true, "will go", "simple_future", "3sg"],
  ["I", "am", true, "am", "present_simple", "1sg"],
  ["you", "am", false, "are", "present_simple", "2sg"],
  ["he", "are", false, "is", "present_simple", "3sg"],
  ["I", "was", true, "was", "past_simple", "1sg"],
  ["you", "was", false, "were", "past_simple", "2sg"],
  ["he", "was", true, "was", "past_simple", "3sg"],
  ["I", "were", false, "was", "past_simple", "1sg"],
  ["you", "come", true, "come", "present_simple", "2sg"],
  ["it", "come", false, "comes", "present_simple", "3sg"],
  ["he", "worked", true, "worked", "past_simple", "3sg"],
  ["she", "have", false, "has", "present_simple", "3sg"],
  ["he", "eaten", false, null, "past_participle", "3sg"],
  ["I", "been", false, null, "past_participle", "1sg"],
  ["you", "be", false, null, "infinitive", "2sg"],
];

for (const [subject, form, agrees, expected, tense, person] of SPOT_CHECKS) {
  Deno.test(`checkSubjectVerbAgreement expects ${expected} for (${subject}, ${form})`, () => {
    assertEquals(check(subject, form), { agrees, expected, tense, person });
  });
}

Deno.test("checkSubjectVerbAgreement takes both words in any case, with spaces around", () => {
  assertEquals(check(" i ", "\tAM\n"), check("I", "am"));
  assertEquals(check("HE", "Go"), check("he", "go"));
});

for (
  const subject of [
    "they",
    "we",
    "the dog",
    "Ana",
    "",
    "he she",
    "__proto__",
    "constructor",
  ]
) {
  Deno.test(`checkSubjectVerbAgreement refuses the subject "${subject}"`, () => {
    const error = assertThrows(() => check(subject, "go"), ToolError);
    assertEquals(
      error.message,
      `Cannot check subject "${subject}": expected "I", "you", "he", "she" or ` +
        '"it", plural and noun subjects are out of scope',
    );
  });
}

for (
  const form of [
    "run",
    "",
    "he goes",
    "to go",
    "comió",
    "__proto__",
    "constructor",
  ]
) {
  Deno.test(`checkSubjectVerbAgreement refuses the form "${form}"`, () => {
    assertThrows(
      () => check("he", form),
      ToolError,
      `Cannot check verb form "${form}": expected a form of one of "work", "play", `,
    );
  });
}

Deno.test("checkSubjectVerbAgreement.outputSchema lets expected be null", () => {
  const { outputSchema } = checkSubjectVerbAgreement;
  const members = ["agrees", "expected", "tense", "person"];
  const properties = outputSchema?.["properties"] as Record<
    string,
    Record<string, unknown>
  >;
  assertEquals(outputSchema?.["type"], "object");
  assertEquals(outputSchema?.["required"], members);
  assertEquals(Object.keys(properties), members);
  assertEquals(outputSchema?.["additionalProperties"], false);
  assertEquals(properties["expected"]?.["type"], ["string", "null"]);
});
