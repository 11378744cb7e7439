/**
 * Our tools, registered: importing this file puts them into
 * {@linkcode registeredTools}. What each does is left to its own file.
 *
 * @example A server of ours and one of your own
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
 * const names = [...registeredTools.keys()];
 * assertEquals([names.at(0), names.at(-1)], ["conjugate", "shout"]);
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

/** As `tools/list` gives them. */
const TOOLS = [
  conjugate,
  lookupIrregularVerb,
  lookupSpanish,
  checkSubjectVerbAgreement,
];
for (const tool of TOOLS) register(tool);
