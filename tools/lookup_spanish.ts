/**
 * The tool `lookup_spanish`: the Spanish for an English verb form. The forms
 * themselves are left to `_conjugation.ts`.
 *
 * @module
 */

import { ToolError } from "../protocol/errors.ts";
import { describe } from "../protocol/jsonrpc.ts";
import { readingsOf, spanishOf, VERB_LIST } from "./_conjugation.ts";
import type { Tool } from "./registry.ts";

/**
 * Look up the Spanish for an English verb form: `ate` gives `comió`.
 *
 * Where the form stands for several tenses or persons, the earliest tense wins,
 * then 3sg, 1sg, 2sg. Its `fn` throws a `ToolError` if the form is unknown.
 *
 * @example Call it without a server
 * ```ts
 * import { lookupSpanish } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(lookupSpanish.fn({ english_form: "ate" }), "comió");
 * ```
 */
export const lookupSpanish: Tool = {
  name: "lookup_spanish",
  title: "Look up the Spanish form",
  description:
    "Give the Spanish for an English verb form, in the same tense and person: " +
    '"ate" is "comió", "will eat" is "comerá". A form that stands for several ' +
    'is taken as the infinitive if it can be ("work" is "trabajar"), else as ' +
    "the earliest of present, past, past participle and future, in the third " +
    `person if it can be. Forms of these verbs are known: ${VERB_LIST}.`,
  inputSchema: {
    type: "object",
    properties: {
      english_form: {
        type: "string",
        description:
          'One English verb form, without a pronoun and without "to".',
        examples: ["eat", "eats", "ate", "eaten", "will eat"],
      },
    },
    required: ["english_form"],
    additionalProperties: false,
  },
  annotations: {
    readOnlyHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  fn: spanishOfForm,
};

function spanishOfForm(
  { english_form: form }: { english_form: string },
): string {
  const [likeliest] = readingsOf(form);
  if (likeliest === undefined) {
    throw new ToolError(
      `Cannot look up ${
        describe(form)
      }: expected a form of one of ${VERB_LIST}`,
    );
  }
  return spanishOf(likeliest);
}
