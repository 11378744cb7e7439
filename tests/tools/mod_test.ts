import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import {
  checkSubjectVerbAgreement,
  conjugate,
  lookupIrregularVerb,
  lookupSpanish,
  register,
  registeredTools,
  type Tool,
} from "../../tools/mod.ts";
import * as registry from "../../tools/registry.ts";

const TOOLS: Tool[] = [
  conjugate,
  lookupIrregularVerb,
  lookupSpanish,
  checkSubjectVerbAgreement,
];

Deno.test("tools/mod.ts registers the four in order when imported", () => {
  assertEquals([...registeredTools.keys()], [
    "conjugate",
    "lookup_irregular_verb",
    "lookup_spanish",
    "check_subject_verb_agreement",
  ]);
  assert([...registeredTools.values()].every((tool, i) => tool === TOOLS[i]));
});

Deno.test("tools/mod.ts re-exports the registry itself", () => {
  assert(register === registry.register);
  assert(registeredTools === registry.registeredTools);
});

/** Every keyword of every schema in a schema. */
function keywordsOf(schema: Record<string, unknown>): string[] {
  const properties = Object.values(schema["properties"] ?? {});
  return [...Object.keys(schema), ...properties.flatMap(keywordsOf)];
}

/** The keywords that mean the same in draft 7 and 2020-12. */
const SHARED_KEYWORDS = new Set([
  "additionalProperties",
  "description",
  "enum",
  "examples",
  "properties",
  "required",
  "type",
]);

for (const tool of TOOLS) {
  Deno.test(`${tool.name} is titled, described, and annotated as harmless`, () => {
    assert(tool.title !== undefined && tool.title !== "");
    assert(tool.description.length > 80);
    assertEquals(tool.annotations, {
      readOnlyHint: true,
      idempotentHint: true,
      openWorldHint: false,
    });
  });

  Deno.test(`${tool.name} requires every argument and takes no other`, () => {
    const { type, properties, required, additionalProperties } = tool
      .inputSchema as Record<string, Record<string, { description?: string }>>;
    assertEquals<unknown>(type, "object");
    assertEquals<unknown>(required, Object.keys(properties ?? {}));
    assertEquals<unknown>(additionalProperties, false);
    for (const { description } of Object.values(properties ?? {})) {
      assert(description !== undefined && description !== "");
    }
  });

  Deno.test(`${tool.name} has schemas that mean the same in both dialects`, () => {
    const schemas = [tool.inputSchema, tool.outputSchema ?? {}];
    const foreign = schemas.flatMap(keywordsOf)
      .filter((keyword) => !SHARED_KEYWORDS.has(keyword));
    assertEquals(foreign, []);
    assertEquals(JSON.parse(JSON.stringify(schemas)), schemas);
  });
}

const ODD_WORDS: [what: string, word: string][] = [
  ["nothing", ""],
  ["blanks", " \t\r\n\u00a0\u2003\ufeff"],
  ["a lone high surrogate", "\ud83d"],
  ["a lone low surrogate", "\udc00eat"],
  ["a pair cut by the message's limit", `${"x".repeat(79)}😀`],
  ["NUL", "eat\u0000"],
  ["control characters", "\u001b[31meat\u0007\u0085\u2028"],
  ["right-to-left text", "אכל"],
  ["a bidirectional override", "\u202etae"],
  ["a decomposed letter", "comio\u0301"],
  ["a capital that lower-cases to two letters", "İ"],
  ["the Kelvin sign", "wor\u212a"],
  ["full-width letters", "ｅａｔ"],
  ["an emoji", "👩‍💻"],
  ["a name of Object.prototype", "__proto__"],
  ["another name of Object.prototype", "constructor"],
  ["a form with a quote", '"eat"'],
  ["a mebibyte", "a".repeat(1 << 20)],
  ["a mebibyte of blanks around a form", `${" ".repeat(1 << 20)}EAT `],
  ["a mebibyte of combining marks", "\u0315\u0300".repeat(1 << 19)],
];

/** The arguments of every tool, each time with the word in one of its strings. */
function callsWith(word: string): [Tool, Record<string, string>][] {
  return [
    [conjugate, { verb: word, tense: "past_simple", person: "3sg" }],
    [lookupIrregularVerb, { verb: word }],
    [lookupSpanish, { english_form: word }],
    [checkSubjectVerbAgreement, { subject: word, verb_form: "go" }],
    [checkSubjectVerbAgreement, { subject: "he", verb_form: word }],
  ];
}

for (const [what, word] of ODD_WORDS) {
  Deno.test(`each tool gives a result or a short ToolError for ${what}`, () => {
    for (const [tool, args] of callsWith(word)) {
      try {
        assert(tool.fn(args) !== undefined);
      } catch (error) {
        assertInstanceOf(error, ToolError);
        assert(error.message.length < 1_000, error.message);
        assert(error.message.isWellFormed());
        // deno-lint-ignore no-control-regex -- none may be left
        assert(!/[\u0000-\u001f]/.test(error.message));
      }
    }
  });
}

Deno.test("each tool knows a form inside a mebibyte of blanks", () => {
  const word = `${" ".repeat(1 << 20)}EAT `;
  assertEquals(lookupSpanish.fn({ english_form: word }), "comer");
});
