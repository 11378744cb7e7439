/**
 * The tool `lookup_irregular_verb`: the three principal parts of a verb. The
 * forms themselves are left to `_conjugation.ts`.
 *
 * @module
 */

import { ToolError } from "../protocol/errors.ts";
import { describe } from "../protocol/jsonrpc.ts";
import {
  findVerb,
  formOf,
  isRegular,
  PERSONS,
  type Tense,
  VERB_LIST,
  VERBS,
} from "./_conjugation.ts";
import type { Tool } from "./registry.ts";

/**
 * Look up the principal parts of an English verb: go, went, gone. Regular verbs
 * are answered too.
 *
 * Its `fn` throws a `ToolError` that lists the verbs in scope if the verb is
 * none of them.
 *
 * @example Call it without a server
 * ```ts
 * import { lookupIrregularVerb } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(lookupIrregularVerb.fn({ verb: "go" }), {
 *   infinitive: "go",
 *   past_simple: "went",
 *   past_participle: "gone",
 *   is_irregular: true,
 * });
 * ```
 */
export const lookupIrregularVerb: Tool = {
  name: "lookup_irregular_verb",
  title: "Look up an irregular verb",
  description:
    "Give the infinitive, the past simple and the past participle of an " +
    "English verb, and whether it is irregular: go, went, gone. Regular verbs " +
    'are answered too. The past simple of "be" is "was/were".',
  inputSchema: {
    type: "object",
    properties: {
      verb: {
        type: "string",
        description: `The infinitive without "to", one of ${VERB_LIST}.`,
        examples: VERBS,
      },
    },
    required: ["verb"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      infinitive: { type: "string", description: "The infinitive." },
      past_simple: {
        type: "string",
        description: 'The past simple; two forms are joined by "/".',
      },
      past_participle: { type: "string", description: "The past participle." },
      is_irregular: {
        type: "boolean",
        description: "Whether the verb is irregular.",
      },
    },
    required: ["infinitive", "past_simple", "past_participle", "is_irregular"],
    additionalProperties: false,
  },
  annotations: {
    readOnlyHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  fn: principalParts,
};

interface PrincipalParts {
  infinitive: string;
  past_simple: string;
  past_participle: string;
  is_irregular: boolean;
}

function principalParts({ verb: word }: { verb: string }): PrincipalParts {
  const verb = findVerb(word);
  if (verb === undefined) {
    throw new ToolError(
      `Cannot look up ${describe(word)}: verbs in scope are ${VERB_LIST}`,
    );
  }
  return {
    infinitive: verb,
    past_simple: distinctForms(verb, "past_simple"),
    past_participle: distinctForms(verb, "past_participle"),
    is_irregular: !isRegular(verb),
  };
}

function distinctForms(verb: string, tense: Tense): string {
  const forms = PERSONS.map((person) => formOf({ verb, tense, person }));
  return [...new Set(forms)].join("/");
}
