import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  checkSchema,
  compileSchema,
  type Dialect,
  formatFailures,
} from "../../protocol/_schema.ts";

const DIALECTS = ["7", "2020-12"] as const;

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

function check(schema: unknown, dialect: Dialect): string {
  return formatFailures(checkSchema(schema, dialect));
}

function failuresOf(
  schema: Record<string, unknown> | boolean,
  value: unknown,
  dialect: Dialect = "2020-12",
): string {
  return formatFailures(compileSchema(schema, dialect)(value));
}

/** `{ key: { key: … } }`, so many levels deep. */
function nest(levels: number, key: string): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let i = 0; i < levels; i++) value = { [key]: value };
  return value;
}

Deno.test("checkSchema() names keyword and reason when a schema is malformed in both dialects", () => {
  const cases: [schema: unknown, failures: string][] = [
    [null, "value is null, expected object or boolean"],
    [[], "value is an array, expected object or boolean"],
    ["string", 'value is "string", expected object or boolean'],
    [
      { type: "strnig" },
      '/type: value is "strnig", expected one of "array", "boolean", "integer", "null", "number", "object", "string" or array',
    ],
    [{ type: [] }, "/type: size is 0, expected at least 1 items"],
    [{ required: "a" }, '/required: value is "a", expected array'],
    [{ required: [1] }, "/required/0: value is 1, expected string"],
    [
      { required: ["a", "a"] },
      "/required: value is an array, expected no two equal items",
    ],
    [{ properties: [] }, "/properties: value is an array, expected object"],
    [
      { properties: { a: { properties: { "b/c": 1 } } } },
      "/properties/a/properties/b~1c: value is 1, expected object or boolean",
    ],
    [{ minLength: -1 }, "/minLength: value is -1, expected at least 0"],
    [{ maxItems: 1.5 }, "/maxItems: value is 1.5, expected integer"],
    [{ multipleOf: 0 }, "/multipleOf: value is 0, expected more than 0"],
    [{ enum: "a" }, '/enum: value is "a", expected array'],
    [{ allOf: [] }, "/allOf: size is 0, expected at least 1 items"],
    [{ anyOf: {} }, "/anyOf: value is an object, expected array"],
    [{ oneOf: [1] }, "/oneOf/0: value is 1, expected object or boolean"],
    [{ not: "a" }, '/not: value is "a", expected object or boolean'],
    [{ uniqueItems: 1 }, "/uniqueItems: value is 1, expected boolean"],
    [{ $id: 5 }, "/$id: value is 5, expected string"],
    [{ $ref: 5 }, "/$ref: value is 5, expected string"],
    [{ $schema: 5 }, EXPECTED_DIALECTS("5")],
    [
      { $schema: "http://json-schema.org/draft-04/schema#" },
      EXPECTED_DIALECTS('"http://json-schema.org/draft-04/schema#"'),
    ],
    [
      { title: 1, description: 2 },
      "/title: value is 1, expected string; /description: value is 2, expected string",
    ],
  ];
  for (const dialect of DIALECTS) {
    for (const [schema, failures] of cases) {
      assertEquals(check(schema, dialect), failures);
    }
  }
});

function EXPECTED_DIALECTS(came: string): string {
  return `/$schema: value is ${came}, expected one of ` +
    '"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2020-12/schema"';
}

Deno.test("checkSchema() tells the dialects apart when they differ", () => {
  const cases: [schema: unknown, in7: string, in2020: string][] = [
    [
      { items: [{}] },
      "",
      "/items: value is an array, expected object or boolean",
    ],
    [
      { items: [] },
      "/items: size is 0, expected at least 1 items",
      "/items: value is an array, expected object or boolean",
    ],
    [
      { dependentRequired: { a: "b" } },
      "",
      '/dependentRequired/a: value is "b", expected array',
    ],
    [
      { $id: "#a" },
      "",
      '/$id: value is "#a", expected a match of "^[^#]*#?$"',
    ],
    [{ $dynamicRef: "#a" }, "", "/$dynamicRef: unexpected"],
    [{ deprecated: 1 }, "", "/deprecated: value is 1, expected boolean"],
  ];
  for (const [schema, in7, in2020] of cases) {
    assertEquals([check(schema, "7"), check(schema, "2020-12")], [in7, in2020]);
  }
});

Deno.test("checkSchema() goes by $schema when there is one", () => {
  const items = [{ type: "string" }];
  const draft7 = "http://json-schema.org/draft-07/schema";
  const draft2020 = "https://json-schema.org/draft/2020-12/schema";
  for (const dialect of DIALECTS) {
    assertEquals(check({ $schema: draft7, items }, dialect), "");
    assertEquals(check({ $schema: `${draft7}#`, items }, dialect), "");
    assert(check({ $schema: draft2020, items }, dialect).startsWith("/items"));
  }
});

Deno.test("checkSchema() finds what a meta-schema does not when a part cannot be used", () => {
  const cases: [schema: unknown, failures: string][] = [
    [
      { $ref: "https://example.com/a.json" },
      '/$ref: value is "https://example.com/a.json", expected a part of the schema',
    ],
    [
      { properties: { a: { $ref: "file:///etc/passwd" } } },
      '/properties/a/$ref: value is "file:///etc/passwd", expected a part of the schema',
    ],
    [
      { items: { $ref: "#/$defs/none" } },
      '/items/$ref: value is "#/$defs/none", expected a part of the schema',
    ],
    [
      { properties: { a: { pattern: "(" } } },
      '/properties/a/pattern: value is "(", expected a regular expression that flag u allows',
    ],
    [
      { patternProperties: { "^(a+)+$": {} } },
      '/patternProperties: value is "^(a+)+$", expected no repetition within a repetition',
    ],
    [
      { properties: { a: { $id: "x" }, b: { $id: "x" } } },
      'cannot be used: Duplicate schema URI "https://github.com/x".',
    ],
    [{ $ref: "#" }, "cannot be used: nested too deep, or without end"],
    [
      { properties: { a: { allOf: [{ $ref: "#/properties/a" }] } } },
      "cannot be used: nested too deep, or without end",
    ],
    [undefined, 'cannot be used: "undefined" is not valid JSON'],
    [
      { maximum: 1n },
      "cannot be used: Do not know how to serialize a BigInt",
    ],
    [
      nest(10_000, "not"),
      "cannot be used: nested too deep, or without end",
    ],
  ];
  for (const dialect of DIALECTS) {
    for (const [schema, failures] of cases) {
      assertEquals(check(schema, dialect), failures);
    }
  }
});

Deno.test("checkSchema() ends when allOfs double one another thirty times", () => {
  const $defs: Record<string, unknown> = { a30: {} };
  for (let i = 0; i < 30; i++) {
    const $ref = `#/$defs/a${i + 1}`;
    $defs[`a${i}`] = { allOf: [{ $ref }, { $ref }] };
  }
  assertEquals(
    check({ $ref: "#/$defs/a0", $defs }, "2020-12"),
    "cannot be used: $ref is followed too often",
  );
});

Deno.test("checkSchema() finds nothing when a schema is good", () => {
  const schemas = [
    true,
    {},
    CONJUGATE,
    { "x-unknown": { $anything: 1 }, format: "no-such-format" },
    { properties: { a: true, b: false }, not: false, items: true },
    { maximum: 2 ** 63, examples: [1], default: { $ref: "not a reference" } },
    {
      $defs: {
        tree: {
          properties: { children: { items: { $ref: "#/$defs/tree" } } },
        },
      },
      $ref: "#/$defs/tree",
    },
    { if: { required: ["a"] }, then: { minProperties: 2 }, else: false },
    JSON.parse('{"properties":{"__proto__":{"const":1},"constructor":{}}}'),
    Object.freeze({
      allOf: Object.freeze([Object.freeze({ $ref: "#/$defs/a" })]),
      $defs: { a: {} },
    }),
  ];
  for (const dialect of DIALECTS) {
    assertEquals(schemas.map((schema) => check(schema, dialect)).join(""), "");
  }
});

Deno.test("compileSchema() lists every failure when arguments are wrong", () => {
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

Deno.test("compileSchema() names what came and what was expected when a keyword fails", () => {
  const cases: [
    schema: Record<string, unknown> | boolean,
    value: unknown,
    failures: string,
  ][] = [
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
  for (const dialect of DIALECTS) {
    for (const [schema, value, failures] of cases) {
      assertEquals(failuresOf(schema, value, dialect), failures);
    }
  }
});

Deno.test("compileSchema() applies the keywords of 2020-12 when that is the dialect", () => {
  const contains = { type: "string" };
  const cases: [Record<string, unknown>, unknown, string][] = [
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
      { dependentRequired: { a: ["b"] } },
      { a: 1 },
      '/b: missing, required with "a"',
    ],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, "/b: missing"],
  ];
  for (const [schema, value, failures] of cases) {
    assertEquals(failuresOf(schema, value), failures);
  }
});

Deno.test("compileSchema() says what was meant when no alternative fits", () => {
  const a = { properties: { kind: { const: "a" }, size: { type: "number" } } };
  const b = { properties: { kind: { const: "b" }, name: { type: "string" } } };
  const object = { type: "object", required: ["x"] };
  const cases: [Record<string, unknown>, unknown, string][] = [
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
      'value is "a", expected to fit one of: size is 1, expected at least 2 characters | value is "a", expected null',
    ],
    [{ anyOf: [false, false] }, 5, "value is 5, expected nothing"],
    [{ anyOf: [{ items: { anyOf: [{ type: "null" }] } }, { type: "null" }] }, [
      1,
    ], "/0: value is 1, expected null"],
  ];
  for (const [schema, value, failures] of cases) {
    assertEquals(failuresOf(schema, value), failures);
  }
});

Deno.test("compileSchema() treats names of Object.prototype like any other when they are members", () => {
  const value = JSON.parse(
    '{"__proto__":{"x":1},"constructor":1,"toString":"a"}',
  );
  const extra = 'unexpected, expected "a"';
  assertEquals(
    failuresOf({ properties: { a: {} }, additionalProperties: false }, value),
    `/__proto__: ${extra}; /constructor: ${extra}; /toString: ${extra}`,
  );
  const names = ["__proto__", "constructor", "toString"];
  assertEquals(
    failuresOf({ required: names }, {}),
    "/__proto__: missing; /constructor: missing; /toString: missing",
  );
  const schema = JSON.parse(
    '{"properties":{"__proto__":{"type":"null"},"toString":{"type":"null"}}}',
  );
  assertEquals(
    failuresOf(schema, value),
    '/__proto__: value is an object, expected null; /toString: value is "a", expected null',
  );
  assertEquals(({} as Record<string, unknown>)["x"], undefined);
});

Deno.test("compileSchema() refuses a number when JSON.parse has rounded it", () => {
  const expected = "expected a finite number, safe where it is whole";
  const value = JSON.parse(
    '{"a":1e400,"b":[9007199254740993,{"c":-1e400}],"d":[-0,1.5,1e-400,9007199254740991]}',
  );
  assertEquals(
    failuresOf({}, value),
    `/a: value is Infinity, ${expected}; /b/0: value is 9007199254740992, ${expected}; /b/1/c: value is -Infinity, ${expected}`,
  );
  assertEquals(
    failuresOf({ type: "number" }, NaN),
    `value is NaN, ${expected}`,
  );
  assertEquals(
    failuresOf({ type: "string" }, Infinity),
    `value is Infinity, ${expected}; value is Infinity, expected string`,
  );
});

Deno.test("compileSchema() refuses a value when JSON cannot hold it", () => {
  const expected = "expected a JSON value";
  assertEquals(
    failuresOf({}, undefined),
    `value is of type undefined, ${expected}`,
  );
  assertEquals(
    failuresOf(CONJUGATE, {
      a: 1n,
      b: [undefined],
      c: () => 1,
      d: Symbol("d"),
    }),
    `/a: value is of type bigint, ${expected}; /c: value is of type function, ${expected}; ` +
      `/d: value is of type symbol, ${expected}; /b/0: value is of type undefined, ${expected}`,
  );
  assertEquals(
    failuresOf({}, { "\ud83d": 1 }),
    '"/\\ud83d": name holds half a surrogate pair',
  );
});

Deno.test("compileSchema() gives a verdict when what is deep needs no look", () => {
  const deep = nest(10_000, "a");
  assertEquals(failuresOf({ type: "object" }, deep), "");
  assertEquals(
    failuresOf(CONJUGATE, {
      verb: "a",
      tense: "infinitive",
      person: "1sg",
      deep,
    }),
    '/deep: unexpected, expected one of "verb", "tense", "person"',
  );
});

Deno.test("compileSchema() throws one Error when the validator gives up", () => {
  const recursive = { properties: { a: { $ref: "#" } } };
  const cyclic: Record<string, unknown> = {};
  cyclic["a"] = cyclic;
  for (
    const [schema, value] of [[recursive, nest(10_000, "a")], [
      {},
      cyclic,
    ]] as const
  ) {
    const validate = compileSchema(schema, "2020-12");
    const error = assertThrows(
      () => validate(value),
      Error,
      "Cannot validate: nested too deep, or without end",
    );
    assert(error.cause instanceof RangeError);
    assertEquals(validate({}), []);
  }
});

Deno.test("compileSchema() ends when a schema doubles the work at every level", () => {
  const part = { properties: { a: { $ref: "#" } } };
  const validate = compileSchema({ allOf: [part, { ...part }] }, "7");
  assertEquals(validate(nest(3, "a")), []);
  assertThrows(
    () => validate(nest(40, "a")),
    Error,
    "Cannot validate: $ref is followed too often",
  );
  assertEquals(validate(nest(3, "a")), []);
});

Deno.test("compileSchema() throws when the schema is malformed", () => {
  assertThrows(
    () => compileSchema({ pattern: "^(a+)+$" }, "7"),
    Error,
    'Cannot use schema: /pattern: value is "^(a+)+$", expected no repetition within a repetition',
  );
});

Deno.test("compileSchema() gives the same function when it is given the same schema and dialect", () => {
  const schema = { type: "string" };
  const validate = compileSchema(schema, "7");
  schema.type = "number";
  assertEquals(compileSchema(schema, "7"), validate);
  assertEquals(validate("a"), []);
  assert(compileSchema(schema, "2020-12") !== validate);
  assertEquals(formatFailures(compileSchema(false, "7")(1)), "unexpected");
});

Deno.test("compileSchema() leaves a schema as it is when it is frozen or shared", () => {
  const shared = Object.freeze({ $ref: "#/$defs/a" });
  const schema = Object.freeze({
    $defs: { a: { type: "null" } },
    properties: { b: shared, c: shared },
  });
  assertEquals(
    failuresOf(schema, { b: 1, c: null }),
    "/b: value is 1, expected null",
  );
  assertEquals(Object.getOwnPropertyNames(schema.$defs.a), ["type"]);
});

Deno.test("compileSchema() stops at the first failure when the value is large", () => {
  const schema = { items: { type: "string" }, "x-slow": 1 };
  assertEquals(
    failuresOf(schema, Array(10_001).fill(0)),
    "/0: value is 0, expected string",
  );
  assertEquals(compileSchema(schema, "7")(Array(9_000).fill(0)).length, 9_000);
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
    formatFailures([{ path: "/a\n\u009b", reason: "x" }]),
    '"/a\\n\\u009b": x',
  );
  assertEquals(formatFailures([{ path: "", reason: "x" }]), "x");
});

Deno.test("compileSchema() bounds a message when schema and value are long", () => {
  const long = "a".repeat(10_000);
  const values = Array.from({ length: 1_000 }, (_, i) => long + i);
  const text = failuresOf({ enum: values }, long);
  assert(text.length < 5_000);
  assert(text.endsWith(" and 980 more"));
});
