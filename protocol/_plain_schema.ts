/**
 * The schemas that most tools have, of a few keywords only: known to be good at
 * sight, and what fits them known at sight. All else is left to `_schema.ts`.
 *
 * The validator takes milliseconds to warm up and microseconds a value; this
 * takes about a fifth of the one and a tenth of the other. It only ever says
 * yes: what it does not accept goes the long way, which gives the verdict and
 * the reasons.
 *
 * @module
 */

import { isObject } from "./jsonrpc.ts";

/** Says yes where a value surely fits. */
export type Fits = (value: unknown) => boolean;

const TYPES: ReadonlyMap<unknown, Fits> = new Map<unknown, Fits>([
  ["string", (value) => typeof value === "string"],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["integer", Number.isSafeInteger],
  ["number", isExact],
  ["array", Array.isArray],
  ["object", isObject],
]);

/** What must hold of a keyword's value. A schema with any other keyword is not plain. */
const KEYWORDS: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ["title", (value) => typeof value === "string"],
  ["description", (value) => typeof value === "string"],
  ["examples", Array.isArray],
  ["type", isType],
  ["enum", Array.isArray],
  ["required", isSetOfStrings],
  [
    "properties",
    (value) =>
      isObject(value) &&
      Object.entries(value).every(([name, member]) =>
        name.isWellFormed() && isPlain(member)
      ),
  ],
  ["items", isPlain],
  ["additionalProperties", (value) => typeof value === "boolean"],
]);

/**
 * Tell whether a schema has plain keywords only, each used as both dialects
 * say.
 *
 * @param schema Anything.
 * @returns Whether it is plain, and so needs no further check.
 */
export function isPlain(schema: unknown): schema is Record<string, unknown> {
  return isObject(schema) &&
    Object.entries(schema).every(([keyword, value]) =>
      KEYWORDS.get(keyword)?.(value) === true
    );
}

/**
 * Make the function that accepts at sight.
 *
 * @param schema A plain schema, whose later changes are not seen.
 * @returns The function: `true` where the value fits and holds nothing that
 * the schema does not name; `false` says nothing.
 */
export function compilePlain(schema: Record<string, unknown>): Fits {
  const { enum: values, properties, items, required } = schema;
  const types = [schema["type"]].flat().map((type) => TYPES.get(type));
  const allowed = Array.isArray(values) ? new Set<unknown>(values) : undefined;
  const names = [...(required ?? []) as string[]];
  const members = new Map(
    Object.entries(properties ?? {}).map(([name, member]) => [
      name,
      compilePlain(member),
    ]),
  );
  const fitsItem = isObject(items) ? compilePlain(items) : () => false;
  return (value) => {
    if (!types.some((isOfType) => isOfType?.(value))) return false;
    if (allowed !== undefined && !allowed.has(value)) return false;
    if (Array.isArray(value)) {
      // `every` would skip holes, which are no JSON.
      return value.findIndex((item) => !fitsItem(item)) === -1;
    }
    if (!isObject(value)) return true;
    for (const name of Object.keys(value)) {
      if (members.get(name)?.(value[name]) !== true) return false;
    }
    return names.every((name) => Object.hasOwn(value, name));
  };
}

/**
 * Tell whether a number is what its JSON said: `JSON.parse` rounds whole ones
 * that are not safe, and makes `Infinity` of what is too large.
 *
 * @param value Anything.
 * @returns Whether it is such a number.
 */
export function isExact(value: unknown): boolean {
  return Number.isSafeInteger(value) ||
    (Number.isFinite(value) && !Number.isInteger(value));
}

function isType(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length > 0 && isSetOfStrings(value) && value.every(isType)
    : TYPES.has(value);
}

function isSetOfStrings(value: unknown): boolean {
  return Array.isArray(value) &&
    value.every((name) => typeof name === "string") &&
    new Set(value).size === value.length;
}
