import { assert, assertEquals } from "@std/assert";
import { formatFailures } from "../../protocol/_failures.ts";
import {
  compilePlain,
  isExact,
  isPlain,
} from "../../protocol/_plain_schema.ts";
import { checkSchema, compileSchema } from "../../protocol/_schema.ts";
import {
  checkSubjectVerbAgreement,
  conjugate,
  lookupIrregularVerb,
  lookupSpanish,
} from "../../tools/mod.ts";
import type { Tool } from "../../tools/registry.ts";
import { type Random, randomNumbers } from "../_random_streams.ts";

const DIALECTS = ["7", "2020-12"] as const;

/** Arguments that fit. */
const FITTING: [Tool, args: Record<string, unknown>][] = [
  [conjugate, { verb: "eat", tense: "past_simple", person: "3sg" }],
  [conjugate, { person: "1sg", tense: "infinitive", verb: "" }],
  [lookupIrregularVerb, { verb: "go" }],
  [lookupSpanish, { english_form: "ate" }],
  [checkSubjectVerbAgreement, { subject: "he", verb_form: "will go" }],
];

/** Arguments that do not, and why. */
const UNFIT: [Tool, args: unknown, failures: string][] = [
  [conjugate, {}, "/verb: missing; /tense: missing; /person: missing"],
  [
    conjugate,
    { verb: 1, tense: "past", person: "3sg", x: 1 },
    '/verb: value is 1, expected string; /tense: value is "past", expected one of "infinitive", "present_simple", "past_simple", "past_participle", "simple_future"; ' +
    '/x: unexpected, expected one of "verb", "tense", "person"',
  ],
  [
    lookupIrregularVerb,
    JSON.parse('{"__proto__":{"verb":"go"}}'),
    '/verb: missing; /__proto__: unexpected, expected "verb"',
  ],
  [
    lookupSpanish,
    { english_form: null },
    "/english_form: value is null, expected string",
  ],
  [lookupSpanish, [], "value is an array, expected object"],
  [checkSubjectVerbAgreement, { subject: "he" }, "/verb_form: missing"],
];

/** Plain schemas with values that are accepted at sight, and values that are not. */
const AT_SIGHT: [Record<string, unknown>, yes: unknown[], no: unknown[]][] = [
  [{}, [], [null, 1, {}]],
  [{ enum: ["a"] }, [], ["a"]],
  [{ type: "string" }, ["", "\ud83d"], [1, null, undefined, new String("")]],
  [{ type: "boolean" }, [true, false], [0, "true"]],
  [{ type: "null" }, [null], [undefined, 0]],
  [
    { type: "integer" },
    JSON.parse("[1.0,-0,9007199254740991]"),
    [1.5, 2 ** 53, Infinity, NaN, 1n, "1"],
  ],
  [{ type: "number" }, [1.5, -0, 5e-324], [2 ** 53, -Infinity, NaN, 1e21]],
  [{ type: ["integer", "null"] }, [1, null], [1.5, "1"]],
  [{ type: "string", enum: ["a", 1, null] }, ["a"], ["b", 1, null]],
  [{ type: "number", enum: [0] }, [0, -0], [1]],
  [{ type: "object", enum: [{ a: 1 }] }, [], [{ a: 1 }]],
  [{ type: "array" }, [[]], [[1], {}]],
  [
    { type: "array", items: { type: "null" } },
    [[], [null, null]],
    [[1], [null, undefined], Array(1), [[]]],
  ],
  [{ type: "object" }, [{}], [{ a: 1 }, [], null]],
  [
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    [{ a: "" }],
    [{}, { a: 1 }, { a: "", b: 1 }, Object.create({ a: "" })],
  ],
  [
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"null"}}}'),
    JSON.parse('[{},{"__proto__":null}]'),
    JSON.parse('[{"__proto__":{}},{"constructor":null}]'),
  ],
  [{ type: "object", required: ["constructor"] }, [], [{}]],
];

/** What random schemas and values are made of. */
const NAMES = ["a", "b", "__proto__", "constructor", "toString", "", "a/b~%é"];
const TYPES = ["string", "boolean", "null", "integer", "number"];
const NESTING_TYPES = ["array", "object"];
const SCALARS: unknown[] = JSON.parse(
  `["", "a", "é💚", "__proto__", true, false, null, 0, -0, 1, 1.0, 1.5, 1e400,
    -1e400, 9007199254740991, 9007199254740992, 9007199254740993, 1e-400, 1e21]`,
);
const NESTED: unknown[] = JSON.parse(
  '[{}, [], {"a": 1}, ["a"], {"__proto__": null}, [[1.5]], [1e400]]',
);

Deno.test("isPlain() agrees with the meta-schemas when it says yes", () => {
  const good = [
    {},
    { type: "object", properties: {}, additionalProperties: false },
    { title: "a", description: "b", required: ["a", "b"], enum: [1, null] },
    { items: { type: "string" }, properties: { type: { type: "integer" } } },
    { type: ["string", "null"] },
    JSON.parse('{"properties":{"__proto__":{"type":"null"},"enum":{}}}'),
  ];
  for (const schema of good) {
    assertEquals(isPlain(schema), true);
    // The unknown keyword is harmless, and sends the schema the slow way.
    const slow = { ...schema, "x-slow": 1 };
    assertEquals(isPlain(slow), false);
    assertEquals(checkSchema(slow, "7"), []);
    assertEquals(checkSchema(slow, "2020-12"), []);
  }
});

Deno.test("isPlain() says no when a keyword has a wrong value", () => {
  const bad: unknown[] = [
    null,
    true,
    [],
    { title: 1 },
    { description: null },
    { type: "strnig" },
    { type: [] },
    { type: ["string", "string"] },
    { type: [["string"]] },
    { type: ["string", "strnig"] },
    { type: "toString" },
    { enum: {} },
    { required: "a" },
    { required: [1] },
    { required: ["a", "a"] },
    { properties: [] },
    { properties: { a: { type: "x" } } },
    { items: [] },
    { items: { $ref: "#" } },
    { additionalProperties: {} },
    { pattern: "a" },
    { constructor: 1 },
  ];
  assertEquals(bad.filter(isPlain), []);
});

Deno.test("isPlain() says no when a name holds half a surrogate pair", () => {
  const schema = { type: "object", properties: { "\ud83d": {} } };
  assertEquals(isPlain(schema), false);
  assertEquals(
    formatFailures(checkSchema(schema, "7")),
    "cannot be used: URI malformed",
  );
});

Deno.test("isExact() says no when JSON.parse has rounded", () => {
  const exact = JSON.parse("[0,-0,1.0,0.5,-9007199254740991,5e-324]");
  const rounded = JSON.parse("[9007199254740993,-1e400,1e21]");
  assertEquals(exact.filter(isExact), exact);
  assertEquals([...rounded, NaN, "1", 1n, null].filter(isExact), []);
});

Deno.test("compilePlain() accepts only when a value surely fits", () => {
  for (const [schema, yes, no] of AT_SIGHT) {
    assert(isPlain(schema));
    const fits = compilePlain(schema);
    assertEquals(yes.filter(fits), yes);
    assertEquals(no.filter(fits), []);
  }
});

Deno.test("compilePlain() does not see a change when the function is made", () => {
  const member = { type: "string", enum: ["a"] };
  const schema = {
    type: ["object"],
    properties: { a: member },
    required: ["a"],
  };
  const fits = compilePlain(schema);
  member.enum.push("b");
  member.type = "null";
  schema.type.push("null");
  schema.required.pop();
  Object.assign(schema.properties, { b: {} });
  const values = [{ a: "a" }, { a: "b" }, {}, null];
  assertEquals(values.filter(fits), [{ a: "a" }]);
});

Deno.test("compilePlain() accepts arguments and results when they fit the shipped tools", () => {
  for (const [{ inputSchema, outputSchema, fn }, args] of FITTING) {
    assert(isPlain(inputSchema));
    assert(compilePlain(inputSchema)(args));
    if (outputSchema === undefined) continue;
    assert(isPlain(outputSchema));
    assert(compilePlain(outputSchema)(fn(args)));
  }
});

Deno.test("compilePlain() leaves the reasons as they are when arguments do not fit", () => {
  for (const [{ inputSchema }, args, failures] of UNFIT) {
    assertEquals(compilePlain(inputSchema)(args), false);
    for (const dialect of DIALECTS) {
      for (const schema of [inputSchema, slowed(inputSchema)]) {
        const unfit = compileSchema(schema, dialect)(args);
        assertEquals(formatFailures(unfit), failures);
      }
    }
  }
});

Deno.test("compilePlain() accepts only what the validator accepts when schema and value are random", () => {
  const random = randomNumbers(31);
  let accepted = 0;
  let refused = 0;
  for (let i = 0; i < 3_000; i++) {
    const schema = randomSchema(random, 3);
    assert(isPlain(schema), JSON.stringify(schema));
    const fits = compilePlain(schema);
    const values = [0, 1, 2, 3].map(() => randomValue(random, schema, 4));
    for (const dialect of DIALECTS) {
      const validate = compileSchema(schema, dialect);
      const validateSlowly = compileSchema(slowed(schema), dialect);
      for (const value of values) {
        const failures = validateSlowly(value);
        const shown = JSON.stringify({ schema, value });
        if (fits(value)) assertEquals(failures, [], shown);
        assertEquals(validate(value), failures, shown);
        if (fits(value)) accepted++;
        else if (failures.length > 0) refused++;
      }
    }
  }
  // Neither answer is rare, so that the comparison says something.
  assert(accepted > 3_000, `accepted ${accepted}`);
  assert(refused > 3_000, `refused ${refused}`);
});

/** The unknown keyword is harmless, and sends the schema the slow way. */
function slowed(schema: Record<string, unknown>): Record<string, unknown> {
  return { ...schema, "x-slow": 1 };
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T;
}

/** Some of the choices, in their order. */
function some<T>(random: Random, choices: readonly T[], share: number): T[] {
  return choices.filter(() => random() < share);
}

/** A plain schema, nested so many levels at most. */
function randomSchema(random: Random, levels: number): Record<string, unknown> {
  const nesting = levels > 0 && random() < 0.6;
  const type = pick(random, nesting ? NESTING_TYPES : TYPES);
  const others = some(random, [...TYPES, ...NESTING_TYPES], 0.3)
    .filter((other) => other !== type);
  const member = (): Record<string, unknown> =>
    randomSchema(random, levels - 1);
  const members = (): Record<string, unknown> =>
    Object.fromEntries(
      some(random, NAMES, 0.3).map((name) => [name, member()]),
    );
  const optional: [keyword: string, share: number, () => unknown][] = [
    ["type", 0.9, () => random() < 0.8 ? type : [type, ...others]],
    ["enum", 0.1, () => some(random, [...SCALARS, ...NESTED], 0.6)],
    ["properties", nesting ? 0.9 : 0, members],
    ["required", 0.3, () => some(random, NAMES, 0.1)],
    ["items", nesting ? 0.8 : 0, member],
    ["additionalProperties", 0.5, () => random() < 0.3],
    ["title", 0.1, () => "a"],
    ["examples", 0.1, () => NESTED],
  ];
  return Object.fromEntries(
    optional.filter(([, share]) => random() < share)
      .map(([keyword, , make]) => [keyword, make()]),
  );
}

/** A value that is likely to fit. */
function randomValue(random: Random, schema: unknown, levels: number): unknown {
  const { type, enum: values, properties, required, items } = Object(schema);
  if (values?.length > 0 && random() < 0.8) return pick(random, values);
  if (levels === 0 || random() < 0.05) return pick(random, SCALARS);
  if (random() < 0.03) return pick(random, NESTED);
  const wanted = pick(random, [type ?? TYPES].flat());
  if (wanted === "array") {
    return some(random, [1, 2, 3], 0.5)
      .map(() => randomValue(random, items, levels - 1));
  }
  if (wanted === "object") {
    const extra = random() < 0.1 ? [pick(random, NAMES)] : [];
    const known = some(random, Object.keys(properties ?? {}), 0.8);
    const wished: string[] = random() < 0.8 ? required ?? [] : [];
    const member = (name: string): [string, unknown] => {
      const isKnown = Object.hasOwn(properties ?? {}, name);
      const inner = isKnown ? properties[name] : {};
      return [name, randomValue(random, inner, levels - 1)];
    };
    return Object.fromEntries([...known, ...wished, ...extra].map(member));
  }
  return pick(random, SCALARS.filter((value) => isOfType(value, wanted)));
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === (value === null ? "null" : typeof value);
}
