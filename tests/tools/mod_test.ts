import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import * as mod from "../../tools/mod.ts";
import * as registry from "../../tools/registry.ts";
import type { Tool } from "../../tools/registry.ts";
import { exampleArguments } from "../_fixtures.ts";

const { register, registeredTools, ...exported } = mod;
const TOOLS = [...registeredTools.values()];

Deno.test("tools/mod.ts registers each tool that it exports when imported, the first four in their order", () => {
  assertEquals([...registeredTools.keys()].slice(0, 4), [
    "conjugate",
    "lookup_irregular_verb",
    "lookup_spanish",
    "check_subject_verb_agreement",
  ]);
  assertEquals(new Set(TOOLS), new Set(Object.values(exported)));
});

Deno.test("tools/mod.ts re-exports the registry itself", () => {
  assert(register === registry.register);
  assert(registeredTools === registry.registeredTools);
});

function propertiesOf(
  { inputSchema }: Tool,
): [name: string, schema: Record<string, unknown>][] {
  return Object.entries(inputSchema["properties"] ?? {});
}

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
    const { type, required, additionalProperties } = tool.inputSchema;
    const properties = propertiesOf(tool);
    assertEquals(type, "object");
    assertEquals(required, properties.map(([name]) => name));
    assertEquals(additionalProperties, false);
    for (const [, { description }] of properties) {
      assert(description !== undefined && description !== "");
    }
  });

  Deno.test(`${tool.name} gives a value for the examples of its arguments`, async () => {
    const args = exampleArguments(tool);
    assert(!Object.values(args).includes(undefined), JSON.stringify(args));
    assert(await tool.fn(args) !== undefined);
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

/** Calls of every tool with the word in one of its strings, one after the other. */
function callsWith(word: string): [Tool, Record<string, unknown>][] {
  return TOOLS.flatMap((tool) =>
    propertiesOf(tool)
      .filter(([, schema]) => schema["enum"] === undefined)
      .map(([name]): [Tool, Record<string, unknown>] => [
        tool,
        { ...exampleArguments(tool), [name]: word },
      ])
  );
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
  assertEquals(exported.lookupSpanish.fn({ english_form: word }), "comer");
});
