/**
 * JSON Schema: check a schema, compile it, list every failure of a value.
 * What a failure means on the wire is left to `server.ts` and `client.ts`.
 *
 * Nothing here reads a file or the network: a `$ref` that leads out of the
 * schema is a failure of the schema.
 *
 * @module
 */

import {
  dereference,
  type Schema,
  validate,
} from "npm:@cfworker/json-schema@4.1.6";
import { describe, isObject } from "./jsonrpc.ts";
import {
  explainErrors,
  formatFailures,
  join,
  oneOf,
  type SchemaFailure,
} from "./_failures.ts";
import { metaschemas } from "./_metaschemas.ts";
import { faultOf } from "./_pattern.ts";
import { compilePlain, type Fits, isExact, isPlain } from "./_plain_schema.ts";

export { formatFailures };

/** The versions of JSON Schema that are known here. */
export type Dialect = "7" | "2020-12";

/** List every failure of a value, none where it fits. */
type Validate = (value: unknown) => SchemaFailure[];

/** A value that holds more values than this is searched to its first failure only, so that memory is bounded. */
const MAX_EXPLAINED = 10_000;
/** How often `$ref` may be followed for each value within a value. */
const MAX_REFS_PER_VALUE = 1_000;
/** How deep a value may be nested, in levels: one that holds itself has no end. */
const MAX_DEPTH = 100_000;

/** Dialects by `$schema` as published, without its empty fragment. */
const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ["http://json-schema.org/draft-07/schema", "7"],
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
]);

const compiled: Record<Dialect, WeakMap<object, Validate>> = {
  "7": new WeakMap(),
  "2020-12": new WeakMap(),
};

/**
 * Check a schema before any value is: hold it against its meta-schema, look at
 * each `$ref` and pattern in it, and try it once. What is good at sight is
 * spared that.
 *
 * A `$schema` names its dialect with `http:` or `https:`, and with an empty
 * fragment or none: servers write all four.
 *
 * Found are a keyword with a wrong value, an unknown `$schema`, two parts with
 * one `$id`, a `$ref` that leads nowhere or back to itself, `allOf`s that
 * double one another, a pattern that is no regular expression or that
 * {@linkcode faultOf} refuses. Not found are keywords that do not exist, and
 * those that the dialect does not know (draft 7 applies `prefixItems`).
 *
 * @param schema Anything. A boolean is a schema: the caller may forbid it.
 * @param dialect What holds where the schema has no `$schema`.
 * @returns Every failure found, with its path in the schema; none if it is good.
 */
export function checkSchema(
  schema: unknown,
  dialect: Dialect,
): SchemaFailure[] {
  const result = build(schema, dialect);
  return typeof result === "function" ? [] : result;
}

/**
 * Make the function that lists every failure of a value.
 *
 * A schema that has passed {@linkcode checkSchema} costs nothing more: the
 * function is kept as long as the schema object lives, whose later changes are
 * not seen. Time is linear in the size of the value, but for `uniqueItems` and
 * patterns. Under any schema a number fails that `JSON.parse` has rounded: not
 * finite, or whole and not safe.
 *
 * @param schema The schema.
 * @param dialect What holds where the schema has no `$schema`.
 * @returns The function. It throws an `Error` with its `cause` where the
 * validator gives up: the value is nested deeper than the stack or holds
 * itself, or `$ref` is followed without end.
 * @throws {Error} If {@linkcode checkSchema} finds a failure.
 */
export function compileSchema(
  schema: Record<string, unknown> | boolean,
  dialect: Dialect,
): Validate {
  const result = build(schema, dialect);
  if (typeof result === "function") return result;
  throw new Error(`Cannot use schema: ${formatFailures(result)}`);
}

function build(schema: unknown, dialect: Dialect): Validate | SchemaFailure[] {
  const key = isObject(schema) ? schema : undefined;
  const known = key && compiled[dialect].get(key);
  if (known) return known;
  try {
    // A copy, since the validator writes into it: the original may be frozen or shared.
    const copy: unknown = JSON.parse(JSON.stringify(schema));
    const result = buildCopy(copy, dialect);
    if (key && typeof result === "function") compiled[dialect].set(key, result);
    return result;
  } catch (error) {
    return [{ path: "", reason: `cannot be used: ${messageOf(error)}` }];
  }
}

function buildCopy(
  copy: unknown,
  fallback: Dialect,
): Validate | SchemaFailure[] {
  const named = isObject(copy) ? copy["$schema"] : undefined;
  const dialect = named === undefined ? fallback : dialectOf(named);
  if (dialect === undefined) {
    const expected = oneOf([...DIALECTS.keys()]);
    const reason = `value is ${describe(named)}, expected ${expected}`;
    return [{ path: "/$schema", reason }];
  }
  if (isPlain(copy)) {
    const fits = compilePlain(copy);
    return validatorOf({ schema: copy, dialect, parts: {}, fits });
  }
  const meta = metaschemas[dialect];
  const malformed = run({ schema: meta, dialect, parts: { "#": meta } }, copy);
  return malformed.length > 0
    ? malformed
    : buildChecked(copy as Schema | boolean, dialect);
}

function dialectOf(named: unknown): Dialect | undefined {
  if (typeof named !== "string") return undefined;
  const bare = (uri: string): string =>
    uri.replace(/^https:/, "http:").replace(/#$/, "");
  return [...DIALECTS].find(([uri]) => bare(uri) === bare(named))?.[1];
}

/** Each part of a schema by its URI. */
type Parts = Record<string, Schema | boolean>;

/** A schema with what is needed to run it. */
interface Target {
  schema: Schema | boolean;
  dialect: Dialect;
  parts: Parts;
  /** Says yes at sight, where the schema is plain. */
  fits?: Fits;
}

/** @param schema It holds to its meta-schema. */
function buildChecked(
  schema: Schema | boolean,
  dialect: Dialect,
): Validate | SchemaFailure[] {
  const all = dereference(schema);
  const unusable = checkParts(all);
  if (unusable.length > 0) return unusable;

  // Only $ref lets the work grow faster than schema times value: counting bounds it.
  let refsLeft = MAX_REFS_PER_VALUE * Object.keys(all).length;
  const parts = new Proxy(all, {
    get: (target, uri: string): Schema | boolean | undefined => {
      if (refsLeft-- === 0) throw new Error("$ref is followed too often");
      return target[uri];
    },
  });
  for (const part of new Set([schema, ...Object.values(all)])) {
    const hasRef = isObject(part) && part.$ref !== undefined;
    if (hasRef || part === schema) validate({}, part, dialect, parts);
  }
  return validatorOf({ schema, dialect, parts }, (size) => {
    refsLeft = MAX_REFS_PER_VALUE * (size + 10);
  });
}

function validatorOf(target: Target, allow?: (n: number) => void): Validate {
  return (value) => {
    try {
      if (target.fits?.(value)) return [];
      const { size, failures, isJSON } = walk(value);
      if (!isJSON) return failures;
      allow?.(size);
      const unfit = run(target, value, size);
      return failures.length > 0 ? [...failures, ...unfit] : unfit;
    } catch (cause) {
      throw new Error(`Cannot validate: ${messageOf(cause)}`, { cause });
    }
  };
}

/** Check what no meta-schema says: that each `$ref` leads somewhere and each pattern can be run. */
function checkParts(parts: Parts): SchemaFailure[] {
  const failures: SchemaFailure[] = [];
  const seen = new Set<unknown>();
  for (const [uri, part] of Object.entries(parts)) {
    if (!isObject(part) || seen.has(part)) continue;
    seen.add(part);
    const path = decodeURIComponent(uri.split("#")[1] ?? "");
    const fail = (keyword: string, value: unknown, expected: string): void => {
      const reason = `value is ${describe(value)}, expected ${expected}`;
      failures.push({ path: `${path}/${keyword}`, reason });
    };
    const { $ref, __absolute_ref__: target, pattern, patternProperties } = part;
    if (target !== undefined && parts[target] === undefined) {
      fail("$ref", $ref, "a part of the schema");
    }
    for (const source of [pattern, ...Object.keys(patternProperties ?? {})]) {
      if (typeof source !== "string") continue;
      const keyword = source === pattern ? "pattern" : "patternProperties";
      const expected = faultOf(source);
      if (expected !== undefined) fail(keyword, source, expected);
    }
  }
  return failures;
}

/** Look at each value within a value: is it one that JSON holds unchanged? */
function walk(
  root: unknown,
): { size: number; failures: SchemaFailure[]; isJSON: boolean } {
  const failures: SchemaFailure[] = [];
  const pending: [value: object, path: string, depth: number][] = [];
  let size = 1;
  let isJSON = true;
  const fail = (path: string, reason: string): void => {
    if (failures.length < MAX_EXPLAINED) failures.push({ path, reason });
  };
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value === "object" && value !== null) {
      pending.push([value, path, depth]);
    } else if (typeof value === "number") {
      const expected = "a finite number, safe where it is whole";
      fail(path, `value is ${value}, expected ${expected}`);
    } else {
      isJSON = false;
      fail(path, `value is of type ${typeof value}, expected a JSON value`);
    }
  };
  if (!isOrdinary(root)) visit(root, "", 0);
  // A loop, not a recursion: JSON.parse nests deeper than calls can.
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, path, depth] = next;
    if (depth > MAX_DEPTH) throw new RangeError("Nesting has no end");
    const names = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const name of names) {
      size++;
      const member: unknown = Reflect.get(value, name);
      if (!isOrdinary(member)) visit(member, join(path, name), depth + 1);
      if (typeof name === "number" || name.isWellFormed()) continue;
      isJSON = false;
      fail(join(path, name), "name holds half a surrogate pair");
    }
  }
  return { size, failures, isJSON };
}

/** Whether a value holds no other and can be read exactly from its JSON. */
function isOrdinary(value: unknown): boolean {
  const type = typeof value;
  return type === "string" || type === "boolean" || value === null ||
    isExact(value);
}

/** Validate for the verdict, which is fast; what fails is looked at again, for all the reasons. */
function run(target: Target, root: unknown, size = 0): SchemaFailure[] {
  const { schema, dialect, parts } = target;
  const { valid, errors } = validate(root, schema, dialect, parts, true);
  if (valid) return [];
  let units = errors;
  if (size <= MAX_EXPLAINED) {
    try {
      units = validate(root, schema, dialect, parts, false).errors;
    } catch {
      // The first run's verdict stands, with the reasons that it came to.
    }
  }
  return explainErrors(units.slice(0, 10 * MAX_EXPLAINED), { ...target, root });
}

function messageOf(error: unknown): string {
  if (error instanceof RangeError) return "nested too deep, or without end";
  return error instanceof Error ? error.message.slice(0, 200) : String(error);
}
