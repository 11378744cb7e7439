import { assert, assertEquals } from "@std/assert";
import {
  explainErrors,
  formatFailures,
  join,
  oneOf,
} from "../../protocol/_failures.ts";
import { compileSchema, type Dialect } from "../../protocol/_schema.ts";

/** A schema, a value that does not fit it, and why. */
type Row = [
  schema: Record<string, unknown> | boolean,
  value: unknown,
  failures: string,
];

/** The arguments of a tool, as most tools describe them. */
const CONJUGATE = {
  type: "object",
  properties: {
    verb: { type: "string" },
    tense: { enum: ["infinitive", "past_simple"] },
    person: { enum: ["1sg", "3sg"] },
  },
  required: ["verb", "tense", "person"],
  additionalProperties: false,
};

/** What each keyword says in both dialects. */
const IN_BOTH: Row[] = [
  [false, 1, "unexpected"],
  [{ type: "object" }, [], "value is an array, expected object"],
  [{ type: ["string", "null"] }, 1, "value is 1, expected string or null"],
  [{ type: "integer" }, 1.5, "value is 1.5, expected integer"],
  [{ const: { a: 1 } }, 1, 'value is 1, expected {"a":1}'],
  [{ const: "a" }, "b", 'value is "b", expected "a"'],
  [{ enum: ["a"] }, null, 'value is null, expected "a"'],
  [{ enum: [] }, 1, "value is 1, expected nothing"],
  [
    { minimum: 2, multipleOf: 2 },
    1,
    "value is 1, expected at least 2; value is 1, expected a multiple of 2",
  ],
  [{ maximum: 2 }, 3, "value is 3, expected at most 2"],
  [{ exclusiveMinimum: 2 }, 2, "value is 2, expected more than 2"],
  [{ exclusiveMaximum: 2 }, 2, "value is 2, expected less than 2"],
  [{ minLength: 2 }, "💚", "size is 1, expected at least 2 characters"],
  [{ maxLength: 2 }, "abc", "size is 3, expected at most 2 characters"],
  [{ pattern: "^a" }, "b", 'value is "b", expected a match of "^a"'],
  [{ format: "date" }, "b", 'value is "b", expected the format "date"'],
  [{ minItems: 2 }, [1], "size is 1, expected at least 2 items"],
  [{ maxItems: 1 }, [1, 2], "size is 2, expected at most 1 items"],
  [
    { uniqueItems: true },
    [1, 1],
    "value is an array, expected no two equal items",
  ],
  [
    { contains: { type: "null" } },
    [1, 2],
    'value is an array, expected an item that fits {"type":"null"}',
  ],
  [{ minProperties: 1 }, {}, "size is 0, expected at least 1 members"],
  [{ maxProperties: 0 }, { a: 1 }, "size is 1, expected at most 0 members"],
  [
    { propertyNames: { pattern: "^a" } },
    { "b/c": 1 },
    '/b~1c: unexpected name, expected one that fits {"pattern":"^a"}',
  ],
  [{ additionalProperties: false }, { a: 1 }, "/a: unexpected"],
  [
    { additionalProperties: { type: "null" } },
    { a: 1 },
    "/a: value is 1, expected null",
  ],
  [
    { patternProperties: { "^a": { type: "null" } } },
    { ab: 1 },
    "/ab: value is 1, expected null",
  ],
  [{ properties: { a: false } }, { a: 1 }, "/a: unexpected"],
  [{ items: { minimum: 2 } }, [1, 2], "/0: value is 1, expected at least 2"],
  [
    { not: { type: "null" } },
    null,
    'value is null, expected nothing that fits {"type":"null"}',
  ],
  [{ if: true, then: { required: ["a"] } }, {}, "/a: missing"],
  [{ if: false, else: { required: ["a"] } }, {}, "/a: missing"],
  [
    { allOf: [{ required: ["a"] }, { required: ["a", "b"] }] },
    {},
    "/a: missing; /b: missing",
  ],
  [
    { dependencies: { a: ["b"], c: { required: ["d"] } } },
    { a: 1, c: 1 },
    '/b: missing, required with "a"; /d: missing',
  ],
  [
    {
      $defs: { a: { type: "null" } },
      properties: { b: { $ref: "#/$defs/a" } },
    },
    { b: 1 },
    "/b: value is 1, expected null",
  ],
  [
    { properties: { "a/b~c %#": { type: "null" } } },
    { "a/b~c %#": 1 },
    "/a~1b~0c %#: value is 1, expected null",
  ],
  [{ required: ['a"b'] }, {}, '"/a\\"b": missing'],
];

const contains = { type: "string" };

/** What the keywords of 2020-12 say. */
const IN_2020: Row[] = [
  [
    { contains, minContains: 2 },
    [1, "a"],
    'value is an array, expected at least 2 items that fit "contains"',
  ],
  [
    { contains, maxContains: 0 },
    ["a"],
    'value is an array, expected at most 0 items that fit "contains"',
  ],
  [{ prefixItems: [{}], items: false }, [1, 2], "/1: unexpected"],
  [{ unevaluatedItems: false }, [1], "/0: unexpected"],
  [
    { properties: { a: {} }, unevaluatedProperties: false },
    { b: 1 },
    '/b: unexpected, expected "a"',
  ],
  [
    { properties: { a: { type: "string" } }, unevaluatedProperties: false },
    { a: 1, b: 1 },
    '/a: value is 1, expected string; /b: unexpected, expected "a"',
  ],
  [
    {
      properties: { a: { properties: { b: { type: "string" } } } },
      unevaluatedProperties: { type: "string" },
    },
    { a: { b: 1 } },
    "/a/b: value is 1, expected string",
  ],
  [
    { prefixItems: [{ type: "string" }], unevaluatedItems: false },
    [1, 2],
    "/0: value is 1, expected string; /1: unexpected",
  ],
  [
    { dependentRequired: { a: ["b"] } },
    { a: 1 },
    '/b: missing, required with "a"',
  ],
  [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, "/b: missing"],
];

const a = { properties: { kind: { const: "a" }, size: { type: "number" } } };
const b = { properties: { kind: { const: "b" }, name: { type: "string" } } };
const object = { type: "object", required: ["x"] };

/** What alternatives say, none of which fits. */
const ALTERNATIVES: Row[] = [
  [
    { anyOf: [{ type: "string" }, { type: "null" }] },
    5,
    "value is 5, expected string or null",
  ],
  [
    { anyOf: [{ const: "a" }, { enum: ["b", "c"] }] },
    5,
    'value is 5, expected "a" or one of "b", "c"',
  ],
  [{ anyOf: [object, { type: "null" }] }, {}, "/x: missing"],
  [
    { oneOf: [a, b] },
    { kind: "b", name: 1 },
    "/name: value is 1, expected string",
  ],
  [
    { oneOf: [a, b] },
    { kind: "c" },
    'value is an object, expected to fit one of: /kind: value is "c", expected "a" | /kind: value is "c", expected "b"',
  ],
  [
    { oneOf: [{ type: "number" }, { type: "integer" }] },
    5,
    "value fits 2 alternatives, expected exactly one",
  ],
  [
    { anyOf: [{ minLength: 2 }, { type: "null" }] },
    "a",
    "size is 1, expected at least 2 characters",
  ],
  [{ anyOf: [false, false] }, 5, "value is 5, expected nothing"],
  [{ anyOf: [{ items: { anyOf: [{ type: "null" }] } }, { type: "null" }] }, [
    1,
  ], "/0: value is 1, expected null"],
];

Deno.test("explainErrors() names what came and what was expected when a keyword fails", () => {
  for (const dialect of ["7", "2020-12"] as const) {
    for (const [schema, value, failures] of IN_BOTH) {
      assertEquals(failuresOf(schema, value, dialect), failures);
    }
  }
});

Deno.test("explainErrors() knows the keywords of 2020-12 when that is the dialect", () => {
  for (const [schema, value, failures] of IN_2020) {
    assertEquals(failuresOf(schema, value), failures);
  }
});

Deno.test("explainErrors() says what was meant when no alternative fits", () => {
  for (const [schema, value, failures] of ALTERNATIVES) {
    assertEquals(failuresOf(schema, value), failures);
  }
});

Deno.test("explainErrors() gives each failure with its path when arguments are wrong", () => {
  const validate = compileSchema(CONJUGATE, "7");
  assertEquals(
    validate({ verb: "eat", tense: "past_simple", person: "3sg" }),
    [],
  );
  assertEquals(validate({ verb: 5, tense: "past", x: 1 }), [
    { path: "/person", reason: "missing" },
    { path: "/verb", reason: "value is 5, expected string" },
    {
      path: "/tense",
      reason: 'value is "past", expected one of "infinitive", "past_simple"',
    },
    {
      path: "/x",
      reason: 'unexpected, expected one of "verb", "tense", "person"',
    },
  ]);
});

Deno.test("explainErrors() gives one failure when the validator gives no errors", () => {
  const attempt = { schema: false, parts: {}, root: 1 };
  assertEquals(explainErrors([], attempt), [{
    path: "",
    reason: "unexpected",
  }]);
});

Deno.test("explainErrors() gives a failure once when two parts find it", () => {
  const part = { required: ["a"] };
  assertEquals(failuresOf({ allOf: [part, { ...part }] }, {}), "/a: missing");
});

Deno.test("formatFailures() lists twenty and counts the rest when there are more", () => {
  const failures = Array.from(
    { length: 23 },
    (_, i) => ({ path: `/${i}`, reason: "missing" }),
  );
  const text = formatFailures(failures);
  assert(text.startsWith("/0: missing; /1: missing; "));
  assert(text.endsWith("; /19: missing; and 3 more"));
});

Deno.test("formatFailures() cuts and quotes when a path is long or holds control characters", () => {
  const long = formatFailures([{ path: `/${"a".repeat(1_000)}`, reason: "x" }]);
  assert(long.length < 120);
  assertEquals(
    formatFailures([{ path: "/a\n\0", reason: "x" }]),
    '"/a\\n\\u0000": x',
  );
  assertEquals(formatFailures([{ path: "", reason: "x" }]), "x");
});

Deno.test("formatFailures() bounds a message when schema and value are long", () => {
  const long = "a".repeat(10_000);
  const values = Array.from({ length: 1_000 }, (_, i) => long + i);
  const text = failuresOf({ enum: values }, long);
  assert(text.length < 5_000);
  assert(text.endsWith(" and 980 more"));
});

Deno.test("oneOf() says so when there is one value, or none", () => {
  assertEquals(oneOf([]), "nothing");
  assertEquals(oneOf(["a"]), '"a"');
  assertEquals(oneOf(["a", null, { b: [1] }]), 'one of "a", null, {"b":[1]}');
});

Deno.test("join() escapes a name when it holds ~ or /", () => {
  assertEquals(join("", "a"), "/a");
  assertEquals(join("/a", 0), "/a/0");
  assertEquals(join("/a", "~1/"), "/a/~01~1");
  assertEquals(join("", ""), "/");
});

function failuresOf(
  schema: Record<string, unknown> | boolean,
  value: unknown,
  dialect: Dialect = "2020-12",
): string {
  return formatFailures(compileSchema(schema, dialect)(value));
}
