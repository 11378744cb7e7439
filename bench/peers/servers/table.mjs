// deno-lint-ignore-file explicit-function-return-type -- node 20 runs this: no types
/**
 * What every peer's `conjugate` tool shares: names, texts and a small table.
 *
 * @module
 */

/** The tool's name and description, as long as ours. */
export const NAME = "conjugate";
export const DESCRIPTION = "Conjugate an English verb in one tense and person.";

/** The enums of the schema. */
export const TENSES = [
  "infinitive",
  "present_simple",
  "past_simple",
  "past_participle",
  "simple_future",
];
export const PERSONS = ["1sg", "2sg", "3sg"];

/** The schema, for a peer that takes it as it is. */
export const INPUT_SCHEMA = {
  type: "object",
  properties: {
    verb: { type: "string", description: "The verb, in the infinitive." },
    tense: { type: "string", enum: TENSES },
    person: { type: "string", enum: PERSONS },
  },
  required: ["verb", "tense", "person"],
  additionalProperties: false,
};

const FORMS = new Map([
  ["eat", {
    infinitive: ["eat", "eat", "eat"],
    present_simple: ["eat", "eat", "eats"],
    past_simple: ["ate", "ate", "ate"],
    past_participle: ["eaten", "eaten", "eaten"],
    simple_future: ["will eat", "will eat", "will eat"],
  }],
  ["go", {
    infinitive: ["go", "go", "go"],
    present_simple: ["go", "go", "goes"],
    past_simple: ["went", "went", "went"],
    past_participle: ["gone", "gone", "gone"],
    simple_future: ["will go", "will go", "will go"],
  }],
]);

/** Gives the form, as the result of a `tools/call`. */
export function conjugate({ verb, tense, person }) {
  const text = FORMS.get(verb)?.[tense]?.[PERSONS.indexOf(person)];
  return text === undefined
    ? { content: [{ type: "text", text: "Not in scope" }], isError: true }
    : { content: [{ type: "text", text }], isError: false };
}

/** More than the longest message of the benchmark, in bytes. */
export const MAX_MESSAGE_BYTES = 80 * 1024 * 1024;
