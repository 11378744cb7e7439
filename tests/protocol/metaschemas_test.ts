import { assertEquals } from "@std/assert";
import { formatFailures } from "../../protocol/_failures.ts";
import { metaschemas } from "../../protocol/_metaschemas.ts";
import { checkSchema, type Dialect } from "../../protocol/_schema.ts";

const DIALECTS = ["7", "2020-12"] as const;

/** Schemas that no dialect allows, and why. */
const MALFORMED: [schema: unknown, failures: string][] = [
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
  [
    { title: 1, description: 2 },
    "/title: value is 1, expected string; /description: value is 2, expected string",
  ],
];

/** Schemas that the dialects judge differently. */
const DIFFERENT: [schema: unknown, in7: string, in2020: string][] = [
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

Deno.test("metaschemas hold to themselves", () => {
  for (const dialect of DIALECTS) {
    assertEquals(checkSchema(metaschemas[dialect], dialect), []);
  }
});

Deno.test("metaschemas refuse a schema in both dialects when a keyword has a wrong value", () => {
  for (const dialect of DIALECTS) {
    for (const [schema, failures] of MALFORMED) {
      assertEquals(check(schema, dialect), failures);
    }
  }
});

Deno.test("metaschemas tell the dialects apart when they differ", () => {
  for (const [schema, in7, in2020] of DIFFERENT) {
    assertEquals([check(schema, "7"), check(schema, "2020-12")], [in7, in2020]);
  }
});

function check(schema: unknown, dialect: Dialect): string {
  return formatFailures(checkSchema(schema, dialect));
}
