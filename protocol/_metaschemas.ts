/**
 * What a schema itself must hold to: the meta-schemas of JSON Schema draft 7
 * and 2020-12, as data. Holding a schema to them is left to `_schema.ts`.
 *
 * Each meta-schema is flat: its only reference is `"#"`, since the validator
 * that reads it knows no `$dynamicRef`.
 *
 * @module
 */

const TYPES = [
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
] as const;

const TYPE = { enum: TYPES } as const;
/** A schema inside a schema. */
const SCHEMA = { $ref: "#" } as const;
const SCHEMAS = { type: "array", minItems: 1, items: SCHEMA } as const;
const SCHEMA_MAP = { type: "object", additionalProperties: SCHEMA } as const;
const STRING = { type: "string" } as const;
const STRINGS = { type: "array", items: STRING, uniqueItems: true } as const;
const BOOLEAN = { type: "boolean" } as const;
const NUMBER = { type: "number" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const LIST = { type: "array" } as const;

/** The keywords that mean the same in both dialects. */
const COMMON = {
  $schema: STRING,
  $ref: STRING,
  $comment: STRING,
  title: STRING,
  description: STRING,
  readOnly: BOOLEAN,
  writeOnly: BOOLEAN,
  examples: LIST,
  format: STRING,
  contentEncoding: STRING,
  contentMediaType: STRING,
  type: {
    anyOf: [
      TYPE,
      { type: "array", items: TYPE, minItems: 1, uniqueItems: true },
    ],
  },
  enum: LIST,
  multipleOf: { type: "number", exclusiveMinimum: 0 },
  maximum: NUMBER,
  exclusiveMaximum: NUMBER,
  minimum: NUMBER,
  exclusiveMinimum: NUMBER,
  maxLength: COUNT,
  minLength: COUNT,
  pattern: STRING,
  maxItems: COUNT,
  minItems: COUNT,
  uniqueItems: BOOLEAN,
  contains: SCHEMA,
  maxProperties: COUNT,
  minProperties: COUNT,
  required: STRINGS,
  properties: SCHEMA_MAP,
  patternProperties: SCHEMA_MAP,
  additionalProperties: SCHEMA,
  propertyNames: SCHEMA,
  definitions: SCHEMA_MAP,
  dependencies: {
    type: "object",
    additionalProperties: { anyOf: [SCHEMA, STRINGS] },
  },
  if: SCHEMA,
  then: SCHEMA,
  else: SCHEMA,
  allOf: SCHEMAS,
  anyOf: SCHEMAS,
  oneOf: SCHEMAS,
  not: SCHEMA,
} as const;

/**
 * What a schema must hold to, by dialect.
 *
 * Two departures from the published ones: draft 7 takes no malformed `$defs`,
 * which many of its schemas use, and 2020-12 takes no `$dynamicRef`, which the
 * validator would pass over in silence.
 */
export const metaschemas: Record<"7" | "2020-12", Record<string, unknown>> = {
  "7": {
    type: ["object", "boolean"],
    properties: {
      ...COMMON,
      $id: STRING,
      $defs: SCHEMA_MAP,
      items: { anyOf: [SCHEMA, SCHEMAS] },
      additionalItems: SCHEMA,
    },
  },
  "2020-12": {
    type: ["object", "boolean"],
    properties: {
      ...COMMON,
      $id: { type: "string", pattern: "^[^#]*#?$" },
      $anchor: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
      $dynamicAnchor: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
      $dynamicRef: false,
      $recursiveRef: false,
      $vocabulary: { type: "object", additionalProperties: BOOLEAN },
      $defs: SCHEMA_MAP,
      deprecated: BOOLEAN,
      contentSchema: SCHEMA,
      prefixItems: SCHEMAS,
      items: SCHEMA,
      unevaluatedItems: SCHEMA,
      maxContains: COUNT,
      minContains: COUNT,
      dependentSchemas: SCHEMA_MAP,
      dependentRequired: { type: "object", additionalProperties: STRINGS },
      unevaluatedProperties: SCHEMA,
    },
  },
};
