import { assertEquals } from "@std/assert";
import { faultOf, isPlain, metaschemas } from "../../protocol/_metaschemas.ts";
import { checkSchema } from "../../protocol/_schema.ts";

Deno.test("metaschemas hold to themselves", () => {
  for (const dialect of ["7", "2020-12"] as const) {
    assertEquals(checkSchema(metaschemas[dialect], dialect), []);
  }
});

Deno.test("faultOf() gives undefined when a pattern is linear", () => {
  const patterns = [
    "^[A-Z]{2,3}$",
    "^(a|b)$",
    "^[a-z0-9]+(-[a-z0-9]+)*$",
    "^([a-z0-9-]+\\.)+[a-z]{2,}$",
    "^(?:/[^/]+)+$",
    "^\\d+(,\\d+)*$",
    "^(?:(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)\\.){3}(?:25[0-5])$",
    "^([A-Za-z0-9+/]{4})*$",
    "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    "(\\([a-z]*\\))*",
    "^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$",
    "[(+*]*",
    "^(https?|ftp)://\\S+$",
    "^(é[a-z]+)*$",
    "(💚a+)*",
    "(a+){2}",
  ];
  assertEquals(patterns.filter((pattern) => faultOf(pattern)), []);
});

Deno.test("faultOf() refuses a pattern when it nests repetition", () => {
  const patterns = [
    "^(a+)+$",
    "(a|a)*",
    "(a?){30}",
    "(a{1,3})*",
    "(a*){1,10}",
    "([a-z]+){2,}",
    "^(\\w+\\s?)*$",
    "((a|b)+)+",
    "(?:(?:a+))+",
    "(?<name>a+)+",
    "(?:-?[a-z]+)*",
    "(-[a-z-]+)*",
    "(-a|-b+)*",
    "(.*,)+",
    "((a+)b?)*",
    "(?=(a+)+)b",
    "(b)(\\1a+)*",
    "(,(a+))*x(a+)+",
  ];
  const fault = "no repetition within a repetition";
  assertEquals(patterns.filter((pattern) => faultOf(pattern) !== fault), []);
});

Deno.test("faultOf() refuses a pattern when it is no regular expression", () => {
  for (const pattern of ["(", "[", "a**", "\\-", "[\\w-.]", "(?<a>b)\\k<c>"]) {
    assertEquals(faultOf(pattern), "a regular expression that flag u allows");
  }
});

Deno.test("isPlain() agrees with the meta-schemas when it says yes", () => {
  const good = [
    {},
    { type: "object", properties: {}, additionalProperties: false },
    { title: "a", description: "b", required: ["a", "b"], enum: [1, null] },
    { items: { type: "string" }, properties: { type: { type: "integer" } } },
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
  const bad = [
    null,
    true,
    [],
    { title: 1 },
    { description: null },
    { type: "strnig" },
    { type: ["string"] },
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
