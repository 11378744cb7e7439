/**
 * What a schema itself must hold to: the meta-schemas of JSON Schema draft 7
 * and 2020-12, as data, and which patterns are safe to run. Holding a schema
 * to it is left to `_schema.ts`.
 *
 * Each meta-schema is flat: its only reference is `"#"`, since the validator
 * that reads it knows no `$dynamicRef`.
 *
 * @module
 */

const TYPES: readonly unknown[] = [
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
];

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

/**
 * Tell whether a schema is good at first sight, in either dialect, and needs
 * no trial: it holds only these keywords, no `$ref` and no pattern. Most
 * tools' schemas do, and the validator takes milliseconds to warm up.
 */
export function isPlain(schema: unknown): schema is Record<string, unknown> {
  return isMap(schema) &&
    Object.entries(schema).every(([keyword, value]) => {
      switch (keyword) {
        case "title":
        case "description":
          return typeof value === "string";
        case "type":
          return TYPES.includes(value);
        case "enum":
          return Array.isArray(value);
        case "required":
          return Array.isArray(value) &&
            value.every((name) => typeof name === "string") &&
            new Set(value).size === value.length;
        case "properties":
          return isMap(value) && Object.values(value).every(isPlain);
        case "items":
          return isPlain(value);
        case "additionalProperties":
          return typeof value === "boolean";
        default:
          return false;
      }
    });
}

function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An atom of a regular expression that is several characters long: an escape or a class. */
const LONG_ATOM =
  /\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|c[a-zA-Z]|\d+|.)|\[(?:\\.|[^\]\\])*\]/gsu;
/** A group with no group inside: its body, and its quantifier if that is 5 or more. */
const GROUP =
  /\((?:\?(?:<?[=!]|[a-z-]*:|<[^>]*>))?([^()]*)\)([*+]|\{\d+,\}|\{(?:\d+,)?(?:[5-9]|\d\d+)\})?/u;
/** The first of the private characters that stand in for long atoms. */
const STAND_IN = 0xF0000;

/**
 * Say what is wrong with a pattern: it is no regular expression, or it holds
 * repetition within repetition, which makes matching take exponential time, as
 * in `^(a+)+$`, `(a|a)*`, `(a?){30}`.
 *
 * Refused is a group that may repeat 5 times or more and holds alternatives or
 * a variable quantifier, unless it begins or ends with one fixed character
 * that nothing else in it matches: `(-[a-z]+)*` is fine. This refuses some
 * harmless ones, and passes those of polynomial time, such as `a*a*a*b`.
 *
 * @param source The pattern.
 * @returns What it should be, or `undefined` if it may be run.
 */
export function faultOf(source: string): string | undefined {
  try {
    new RegExp(source, "u");
  } catch {
    return "a regular expression that flag u allows";
  }
  return isBounded(source) ? undefined : "no repetition within a repetition";
}

function isBounded(source: string): boolean {
  const atoms: string[] = [];
  let rest = source.replace(
    LONG_ATOM,
    (atom) => String.fromCodePoint(STAND_IN + atoms.push(atom) - 1),
  );
  for (let group = GROUP.exec(rest); group !== null; group = GROUP.exec(rest)) {
    const [whole, body = "", many] = group;
    const isVariable = /[|*+?]|\{\d+,/.test(body);
    if (many && isVariable && !isSeparated(body, atoms)) return false;
    // What is left of it shows the group around its atoms and whether it varies; NUL is no atom.
    const flat = `\0${body.replaceAll("|", "?")}\0${many ? "*" : ""}`;
    rest = rest.replace(whole, () => flat);
  }
  return true;
}

/** Whether each round of a group can be told from the next by the character it begins or ends with. */
function isSeparated(body: string, atoms: string[]): boolean {
  if (body.includes("|")) return false;
  const sourceOf = (atom: string): string =>
    atoms[(atom.codePointAt(0) ?? 0) - STAND_IN] ?? atom;
  const inner = [...body.replace(/\{[\d,]*\}|[*+?\0]/g, "")].map(sourceOf);
  const edges = body.match(/^[^\0](?![*+?{])|[^*+?}\0]$/gsu) ?? [];
  return edges.map(sourceOf).some((edge) => {
    const [, escaped, plain] = /^(?:\\(\W)|([^\\.^$[]))$/u.exec(edge) ?? [];
    const fixed = escaped ?? plain;
    const matches = (atom: string): boolean =>
      /^\\[1-9k]/.test(atom) ||
      new RegExp(`^(?:${atom})$`, "su").test(fixed ?? "");
    return fixed !== undefined && inner.filter(matches).length === 1;
  });
}
