import { assertEquals, assertRejects } from "@std/assert";
import { findFaults, findSchemaFaults } from "../../protocol/_schema_gate.ts";

/** Plain, so that what fits it is accepted at sight. */
const PLAIN = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
};
/** Not plain: only the validator can tell. */
const BOUNDED = {
  type: "object",
  properties: { n: { type: "integer", minimum: 3 } },
};

Deno.test("findFaults() accepts at once what fits a plain schema", () => {
  assertEquals(findFaults(PLAIN, "7", { n: 1 }), undefined);
});

Deno.test("findFaults() says what does not fit, with a promise until the validator is loaded, at once from then on", async () => {
  const text = '/n: value is "x", expected integer';
  assertEquals(await findFaults(PLAIN, "7", { n: "x" }), text);
  assertEquals(findFaults(PLAIN, "2020-12", { n: "x" }), text);
  assertEquals(findFaults(PLAIN, "7", { n: 1, more: {} }), undefined);
  assertEquals(
    findFaults(BOUNDED, "7", { n: 2 }),
    "/n: value is 2, expected at least 3",
  );
  assertEquals(findFaults(BOUNDED, "7", { n: 3 }), undefined);
});

Deno.test("findFaults() refuses a schema that cannot be used", async () => {
  const schema = { type: "object", $ref: "https://127.0.0.1/x.json" };
  await assertRejects(
    async () => await findFaults(schema, "7", {}),
    Error,
    "$ref",
  );
});

Deno.test("findSchemaFaults() finds what is malformed in either dialect", async () => {
  assertEquals(await findSchemaFaults(PLAIN), undefined);
  assertEquals(await findSchemaFaults(BOUNDED), undefined);
  const cyclic: Record<string, unknown> = {};
  cyclic["properties"] = cyclic;
  const malformed = [
    undefined,
    5,
    { type: "strnig" },
    { type: "object", properties: { list: { type: "array", items: [{}] } } },
    { $schema: "urn:x" },
    cyclic,
  ];
  for (const schema of malformed) {
    assertEquals(typeof await findSchemaFaults(schema), "string");
  }
});
