import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  checkSchema,
  compileSchema,
  type Dialect,
  formatFailures,
} from "../../protocol/_schema.ts";
import { describe } from "../../protocol/jsonrpc.ts";

const DIALECTS = ["7", "2020-12"] as const;
const KNOWN =
  '"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2020-12/schema"';

/** The arguments of a tool, as most tools describe them. */
const CONJUGATE = {
  type: "object",
  properties: {
    verb: { type: "string" },
    tense: { type: "string", enum: ["infinitive", "past_simple"] },
    person: { type: "string", enum: ["1sg", "3sg"] },
  },
  required: ["verb", "tense", "person"],
  additionalProperties: false,
};

/** Schemas that hold to their meta-schema and cannot be used, and why. */
const UNUSABLE: [schema: unknown, failures: string][] = [
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

Deno.test("checkSchema() goes by $schema whatever its scheme and fragment when there is one", () => {
  const items = [{ type: "string" }];
  const notIn2020 = "/items: value is an array, expected object or boolean";
  const cases: [uri: string, failures: string][] = [
    ["//json-schema.org/draft-07/schema", ""],
    ["//json-schema.org/draft-07/schema#", ""],
    ["//json-schema.org/draft/2020-12/schema", notIn2020],
    ["//json-schema.org/draft/2020-12/schema#", notIn2020],
  ];
  for (const dialect of DIALECTS) {
    for (const [uri, failures] of cases) {
      assertEquals(check({ $schema: `http:${uri}`, items }, dialect), failures);
      assertEquals(
        check({ $schema: `https:${uri}`, items }, dialect),
        failures,
      );
    }
  }
});

Deno.test("checkSchema() names the dialects it knows when $schema is another", () => {
  const others = [
    null,
    5,
    ["http://json-schema.org/draft-07/schema"],
    { toString: 1 },
    "",
    "http://json-schema.org/schema#",
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema##",
    "http://json-schema.org/draft-07/schema#/",
    "HTTP://json-schema.org/draft-07/schema#",
    "//json-schema.org/draft-07/schema#",
    " http://json-schema.org/draft-07/schema#",
  ];
  for (const dialect of DIALECTS) {
    for (const $schema of others) {
      const came = `/$schema: value is ${describe($schema)}, expected one of `;
      assertEquals(check({ $schema, type: "string" }, dialect), came + KNOWN);
    }
  }
});

Deno.test("checkSchema() finds what a meta-schema does not when a part cannot be used", () => {
  for (const dialect of DIALECTS) {
    for (const [schema, failures] of UNUSABLE) {
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

Deno.test("compileSchema() does not see a change when the schema has been checked", () => {
  for (const slow of [{}, { "x-slow": 1 }]) {
    const schema = {
      ...{ type: "object", ...slow },
      properties: { a: { type: "string", enum: ["b"] } },
    };
    assertEquals(checkSchema(schema, "7"), []);
    schema.properties.a.enum.push("c");
    schema.properties.a.type = "strnig";
    assertEquals(checkSchema(schema, "7"), []);
    assertEquals(failuresOf(schema, { a: "b" }, "7"), "");
    const failures = '/a: value is "c", expected "b"';
    assertEquals(failuresOf(schema, { a: "c" }, "7"), failures);
  }
});

Deno.test("compileSchema() looks once when a plain schema fits", () => {
  const looksAt = (schema: Record<string, unknown>): number => {
    let looks = 0;
    const value = { verb: "eat", tense: "infinitive", person: "1sg" };
    const ownKeys = (target: object): (string | symbol)[] => {
      looks++;
      return Reflect.ownKeys(target);
    };
    assertEquals(failuresOf(schema, new Proxy(value, { ownKeys })), "");
    return looks;
  };
  assertEquals(looksAt(CONJUGATE), 1);
  assert(looksAt({ ...CONJUGATE, "x-slow": 1 }) > 1);
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
