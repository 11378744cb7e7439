/**
 * The tool `check_subject_verb_agreement`: whether a pronoun and a verb form go
 * together. The forms themselves are left to `_conjugation.ts`.
 *
 * @module
 */

import { ToolError } from "../protocol/errors.ts";
import { describe } from "../protocol/jsonrpc.ts";
import {
  formOf,
  normalizeWord,
  type Person,
  PERSONS,
  readingsOf,
  type Tense,
  TENSES,
  VERB_LIST,
} from "./_conjugation.ts";
import type { Tool } from "./registry.ts";

/**
 * Check whether a subject and a verb form agree: (he, go) does not, `goes` is
 * expected.
 *
 * Its `fn` throws a `ToolError` if the subject is not a singular pronoun or the
 * form is unknown.
 *
 * @example Call it without a server
 * ```ts
 * import { checkSubjectVerbAgreement } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   checkSubjectVerbAgreement.fn({ subject: "he", verb_form: "go" }),
 *   { agrees: false, expected: "goes", tense: "present_simple", person: "3sg" },
 * );
 * ```
 */
export const checkSubjectVerbAgreement: Tool = {
  name: "check_subject_verb_agreement",
  title: "Check subject-verb agreement",
  description:
    "Tell whether an English subject pronoun and a verb form agree, and which " +
    'form the subject takes: (he, go) does not agree, "goes" is expected. A ' +
    "form that needs an auxiliary (eaten, been) agrees with no subject, and " +
    `nothing is expected. Forms of these verbs are known: ${VERB_LIST}.`,
  inputSchema: {
    type: "object",
    properties: {
      subject: {
        type: "string",
        description:
          "One of I, you, he, she, it. Plural and noun subjects are out of " +
          "scope.",
        examples: ["I", "you", "he", "she", "it"],
      },
      verb_form: {
        type: "string",
        description: "One English verb form, without the subject.",
        examples: ["go", "goes", "went", "will go"],
      },
    },
    required: ["subject", "verb_form"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      agrees: {
        type: "boolean",
        description: "Whether the subject takes the form in some tense.",
      },
      expected: {
        type: ["string", "null"],
        description:
          "The form that the subject takes in that tense; null for an " +
          "infinitive or a past participle.",
      },
      tense: {
        type: "string",
        enum: TENSES,
        description: "The tense that the form was taken for.",
      },
      person: {
        type: "string",
        enum: PERSONS,
        description: "The person of the subject.",
      },
    },
    required: ["agrees", "expected", "tense", "person"],
    additionalProperties: false,
  },
  annotations: {
    readOnlyHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  fn: checkAgreement,
};

const PERSON_BY_SUBJECT: ReadonlyMap<string, Person> = new Map([
  ["i", "1sg"],
  ["you", "2sg"],
  ["he", "3sg"],
  ["she", "3sg"],
  ["it", "3sg"],
]);

/** The tenses in which a form stands with a subject and no auxiliary. */
const FINITE_TENSES: ReadonlySet<Tense> = new Set([
  "present_simple",
  "past_simple",
  "simple_future",
]);

interface Arguments {
  subject: string;
  verb_form: string;
}

interface Agreement {
  agrees: boolean;
  expected: string | null;
  tense: Tense;
  person: Person;
}

function checkAgreement({ subject, verb_form: form }: Arguments): Agreement {
  const person = PERSON_BY_SUBJECT.get(normalizeWord(subject));
  if (person === undefined) {
    throw new ToolError(
      `Cannot check subject ${describe(subject)}: expected "I", "you", "he", ` +
        '"she" or "it", plural and noun subjects are out of scope',
    );
  }
  const readings = readingsOf(form);
  const [earliest] = readings;
  if (earliest === undefined) {
    throw new ToolError(
      `Cannot check verb form ${describe(form)}: expected a form of one of ` +
        VERB_LIST,
    );
  }
  // The readings come in the order of the tenses, so each first one is the right one.
  const finite = readings.filter(({ tense }) => FINITE_TENSES.has(tense));
  const agreeing = finite.find((reading) => reading.person === person);
  const { verb, tense } = agreeing ?? finite[0] ?? earliest;
  return {
    agrees: agreeing !== undefined,
    expected: finite.length === 0 ? null : formOf({ verb, tense, person }),
    tense,
    person,
  };
}
