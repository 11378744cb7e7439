/**
 * Properties of our tools: whatever the strings, a result or a refusal.
 *
 * @module
 */

import fc from "npm:fast-check@4.11.0";
import { assert, assertEquals, assertLess } from "@std/assert";
import { ToolError } from "../../protocol/errors.ts";
import { PROTOCOL_VERSIONS } from "../../protocol/revisions.ts";
import { dispatch, type Session } from "../../server.ts";
import { registeredTools, type Tool } from "../../tools/mod.ts";
import { claimOf } from "../_fixtures.ts";
import { type Property, property } from "./_property.ts";

/** Words that lead somewhere, and the ones of Object.prototype. */
const words = fc.constantFrom(
  ...["eat", "ate", " EATS\n", "went", "be", "was", "will go", "worked"],
  ...["I", "He", "they", "past_simple", "3sg", "infinitive", "__proto__"],
);

/** Any UTF-16, paired or not. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom("\0", "\u202e", "\u200f", "é", "\u0301", "\ud83c\udf89"),
  ),
  maxLength: 60,
});

/** Long in the ways that cost: marks to sort, case to fold, spaces to trim. */
const longText = fc.tuple(
  fc.constantFrom("a", "\u0315\u0300", "\u0130", " ", "\0", "\ud800", "漢"),
  fc.constantFrom(10_000, 2 ** 20),
).map(([unit, length]) => unit.repeat(length / unit.length));

const texts = fc.oneof(
  { arbitrary: words, weight: 10 },
  { arbitrary: anyText, weight: 10 },
  { arbitrary: longText, weight: 1 },
);

/** Each tool with a text for each of its arguments: any, or what its schema takes. */
function callsWith(
  textFor: (schema: { enum?: string[] }) => fc.Arbitrary<string>,
): fc.Arbitrary<[Tool, [name: string, text: string][]]> {
  return fc.constantFrom(...registeredTools.values()).chain((tool) => {
    const properties = tool.inputSchema["properties"] as Record<string, object>;
    const args = Object.entries(properties).map(([name, schema]) =>
      fc.tuple(fc.constant(name), textFor(schema))
    );
    return fc.tuple(fc.constant(tool), fc.tuple(...args));
  });
}

const fittingText = (schema: { enum?: string[] }): fc.Arbitrary<string> =>
  schema.enum === undefined ? texts : fc.constantFrom(...schema.enum);

const calling = property(
  "tools/call gives a result or names what is wrong, whatever the strings, never -32603",
  1000,
  fc.asyncProperty(
    callsWith((schema) => fc.oneof(texts, fittingText(schema))),
    fc.constantFrom(...PROTOCOL_VERSIONS),
    async ([{ name }, entries], protocolVersion) => {
      const started = performance.now();
      const session: Session = {};
      const open = { jsonrpc: "2.0", id: 0, method: "initialize" };
      await dispatch({ ...open, params: { protocolVersion } }, session);
      const args = Object.fromEntries(entries);
      const claim = claimOf(protocolVersion);
      const params = { name, arguments: args, ...claim };
      const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      const json = JSON.stringify(await dispatch(request, session));
      assert(json.isWellFormed(), "half a surrogate pair, not escaped");
      const { error, result } = JSON.parse(json);
      if (error !== undefined) assertEquals(error.code, -32602);
      else assertEquals(typeof result.content[0].text, "string");
      assertLess(performance.now() - started, 1000);
    },
  ),
);

const direct = property(
  "Tool.fn gives a value or throws a ToolError, whatever the strings",
  1000,
  fc.asyncProperty(callsWith(fittingText), async ([{ fn }, entries]) => {
    const args = Object.fromEntries(entries);
    try {
      assert(await fn(args) !== undefined);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      assertLess(error.message.length, 3000);
    }
  }),
);

/** All of them. */
export const toolProperties: readonly Property[] = [calling, direct];
