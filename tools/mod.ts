/**
 * The four tools, registered: importing this file puts them into
 * {@linkcode registeredTools}. What each does is left to its own file.
 *
 * @example A server of the four and one of your own
 * ```ts
 * import { register, registeredTools } from "@miniagent/mcp/tools";
 * import { assertEquals } from "@std/assert";
 *
 * register({
 *   name: "shout",
 *   description: "Write a text in capitals",
 *   inputSchema: {
 *     type: "object",
 *     properties: { text: { type: "string" } },
 *     required: ["text"],
 *   },
 *   fn: ({ text }) => text.toUpperCase(),
 * });
 * assertEquals([...registeredTools.keys()], [
 *   "conjugate",
 *   "lookup_irregular_verb",
 *   "lookup_spanish",
 *   "check_subject_verb_agreement",
 *   "shout",
 * ]);
 * ```
 *
 * @module
 */

import { checkSubjectVerbAgreement } from "./check_subject_verb_agreement.ts";
import { conjugate } from "./conjugate.ts";
import { lookupIrregularVerb } from "./lookup_irregular_verb.ts";
import { lookupSpanish } from "./lookup_spanish.ts";
import { register } from "./registry.ts";

export {
  type JSONSchema,
  register,
  registeredTools,
  type Tool,
  type ToolAnnotations,
  type ToolIcon,
} from "./registry.ts";
export {
  checkSubjectVerbAgreement,
  conjugate,
  lookupIrregularVerb,
  lookupSpanish,
};

register(conjugate);
register(lookupIrregularVerb);
register(lookupSpanish);
register(checkSubjectVerbAgreement);
