/**
 * The tool `conjugate`: the English form of a verb in a tense and person. The
 * forms themselves are left to `_conjugation.ts`.
 *
 * @module
 */

import { ToolError } from "../protocol/errors.ts";
import { describe } from "../protocol/jsonrpc.ts";
import {
  findVerb,
  formOf,
  type Person,
  PERSONS,
  type Tense,
  TENSES,
  VERB_LIST,
  VERBS,
} from "./_conjugation.ts";
import type { Tool } from "./registry.ts";

/**
 * Conjugate an English verb: (eat, past_simple, 3sg) gives `ate`.
 *
 * Its `fn` throws a `ToolError` that lists the verbs in scope if the verb is
 * none of them.
 *
 * @example Call it without a server
 * ```ts
 * import { conjugate } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   conjugate.fn({ verb: "eat", tense: "past_simple", person: "3sg" }),
 *   "ate",
 * );
 * ```
 */
export const conjugate: Tool = {
  name: "conjugate",
  title: "Conjugate a verb",
  description:
    "Give the English form of a verb in one tense and person, without the " +
    'pronoun: (eat, past_simple, 3sg) is "ate", (eat, simple_future, 1sg) is ' +
    '"will eat".',
  inputSchema: {
    type: "object",
    properties: {
      verb: {
        type: "string",
        description: `The infinitive without "to", one of ${VERB_LIST}.`,
        examples: VERBS,
      },
      tense: {
        type: "string",
        enum: TENSES,
        description:
          "The tense. The infinitive and the past participle are the same in " +
          "all persons.",
      },
      person: {
        type: "string",
        enum: PERSONS,
        description:
          "The person, always singular: 1sg is I, 2sg is you, 3sg is he, she " +
          "or it.",
      },
    },
    required: ["verb", "tense", "person"],
    additionalProperties: false,
  },
  annotations: {
    readOnlyHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  fn: formOfWord,
};

interface Arguments {
  verb: string;
  tense: Tense;
  person: Person;
}

function formOfWord({ verb: word, tense, person }: Arguments): string {
  const verb = findVerb(word);
  if (verb === undefined) {
    throw new ToolError(
      `Cannot conjugate ${describe(word)}: verbs in scope are ${VERB_LIST}`,
    );
  }
  return formOf({ verb, tense, person });
}
