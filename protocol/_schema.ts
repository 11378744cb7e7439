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
  type OutputUnit,
  type Schema,
  validate,
} from "npm:@cfworker/json-schema@4.1.6";
import { describe, isObject } from "./jsonrpc.ts";
import { faultOf, isPlain, metaschemas } from "./_metaschemas.ts";

/** The versions of JSON Schema that are known here. */
export type Dialect = "7" | "2020-12";

/** One place where a value does not fit its schema. */
export interface SchemaFailure {
  /** Where, as a JSON Pointer (RFC 6901): `""` for the whole value. */
  path: string;
  /** What came and what was expected. */
  reason: string;
}

/** List every failure of a value, none where it fits. */
export type Validate = (value: unknown) => SchemaFailure[];

/** How many failures, or expected values, one message lists. */
const MAX_LISTED = 20;
/** How much of what a schema says one message repeats, in characters. */
const MAX_SHOWN = 80;
/** How many of the alternatives that do not fit one message explains. */
const MAX_ALTERNATIVES = 5;
/** A value that holds more values than this is searched to its first failure only, so that memory is bounded. */
const MAX_EXPLAINED = 10_000;
/** How often `$ref` may be followed for each value within a value. */
const MAX_REFS_PER_VALUE = 1_000;
/** How deep a value may be nested, in levels: one that holds itself has no end. */
const MAX_DEPTH = 100_000;

/** Dialects by `$schema`, without its empty fragment. */
const DIALECTS: ReadonlyMap<unknown, Dialect> = new Map([
  ["http://json-schema.org/draft-07/schema", "7"],
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
]);

const compiled: Record<Dialect, WeakMap<object, Validate>> = {
  "7": new WeakMap(),
  "2020-12": new WeakMap(),
};

/**
 * Check a schema before any value is: hold it against its meta-schema, look at
 * each `$ref` and pattern in it, and try it once.
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

/**
 * Put failures into one line.
 *
 * @param failures At least one. The first 20 are listed, the rest counted.
 * @returns `/tense: value is "past", expected one of …; /person: missing`.
 */
export function formatFailures(failures: readonly SchemaFailure[]): string {
  const listed = failures.slice(0, MAX_LISTED).map(({ path, reason }) => {
    const quoted = describe(path);
    const shown = quoted === `"${path}"` ? path : quoted;
    return path === "" ? reason : `${shown}: ${reason}`;
  });
  const more = failures.length - listed.length;
  return listed.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Each part of a schema by its URI. */
type Parts = Record<string, Schema | boolean>;

/** A schema with what is needed to run it. */
interface Target {
  schema: Schema | boolean;
  dialect: Dialect;
  parts: Parts;
}

/** A schema and the value that does not fit it. */
interface Attempt extends Target {
  root: unknown;
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
  const dialect = named === undefined
    ? fallback
    : DIALECTS.get(String(named).replace(/#$/, ""));
  if (dialect === undefined) {
    const expected = oneOf([...DIALECTS.keys()]);
    const reason = `value is ${describe(named)}, expected ${expected}`;
    return [{ path: "/$schema", reason }];
  }
  if (isPlain(copy)) return validatorOf({ schema: copy, dialect, parts: {} });
  const meta = metaschemas[dialect];
  const malformed = run({ schema: meta, dialect, parts: { "#": meta } }, copy);
  if (malformed.length > 0) return malformed;

  const schema = copy as Schema | boolean;
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
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ||
      (Number.isFinite(value) && !Number.isInteger(value));
  }
  const type = typeof value;
  return type === "string" || type === "boolean" || value === null;
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
  const failures = explain(units.slice(0, MAX_EXPLAINED), { ...target, root });
  const distinct = new Map(failures.map((f) => [`${f.path} ${f.reason}`, f]));
  return distinct.size > 0
    ? [...distinct.values()]
    : [{ path: "", reason: "unexpected" }];
}

/** Keywords whose error says less than the ones after it. */
const WRAPPERS =
  /^(?:\$ref|\$recursiveRef|allOf|if|dependentSchemas|additionalItems|items|prefixItems|unevaluatedItems|additionalProperties|patternProperties|properties|unevaluatedProperties)$/;

/** Keywords whose error says more than those after it that lie inside it. */
const GROUPS = /^(?:anyOf|oneOf|contains|propertyNames)$/;

/** Make failures of the validator's errors, which come outermost first. */
function explain(units: OutputUnit[], attempt: Attempt): SchemaFailure[] {
  const failures: SchemaFailure[] = [];
  // Why items do not fit `contains` comes before `minContains`, and is no failure.
  const quiet = units.filter(({ keyword }) => keyword === "minContains")
    .map((unit) => unit.keywordLocation.replace(/minContains$/, "contains/"));
  for (let i = 0; i < units.length;) {
    const before = units[i - 1];
    const unit = units[i++] as OutputUnit;
    const { keyword, keywordLocation, error } = unit;
    if (GROUPS.test(keyword)) {
      const start = i;
      while (isInside(units[i], unit)) i++;
      failures.push(...explainGroup(unit, units.slice(start, i), attempt));
    } else if (
      !WRAPPERS.test(keyword) && !error.endsWith("dependant schema.") &&
      !quiet.some((prefix) => keywordLocation.startsWith(prefix))
    ) {
      failures.push(explainOne(unit, attempt, before));
    }
  }
  return failures;
}

/** The error of a `false` schema has no place of its own: it belongs to the one before it. */
function isInside(unit: OutputUnit | undefined, group: OutputUnit): boolean {
  return unit?.keyword === "false" ||
    unit?.keywordLocation.startsWith(`${group.keywordLocation}/`) === true;
}

/**
 * Say why no alternative fits: what each expects here, if that is all; or the
 * failures of the one that was meant, if all others are of another type or
 * have another constant; or the first failure of each.
 */
function explainGroup(
  group: OutputUnit,
  units: OutputUnit[],
  attempt: Attempt,
): SchemaFailure[] {
  const { path, reason } = explainOne(group, attempt);
  if (group.keyword === "propertyNames") {
    return [{ path: pathOf(units[0] ?? group), reason }];
  }
  if (group.keyword === "contains" || /\([1-9]\d* matches/.test(group.error)) {
    return [{ path, reason }];
  }
  const came = `value is ${describe(follow(attempt.root, path))}, expected`;
  const start = group.keywordLocation.length + 1;
  let index = "";
  const byIndex = Map.groupBy(units, ({ keyword, keywordLocation }) => {
    if (keyword === "false") return index;
    return index = keywordLocation.slice(start).replace(/\/.*/s, "");
  });
  byIndex.delete(""); // a `false` before all others
  const alternatives = [...byIndex.values()].map((inner) => {
    const failures = explain(inner, attempt);
    const here = failures.filter((failure) =>
      failure.path === path && failure.reason.startsWith(came)
    );
    const hasConstant = inner.some(({ keyword }) => keyword === "const");
    return { failures, here, hasConstant };
  });
  if (
    alternatives.every(({ failures, here }) => here.length === failures.length)
  ) {
    const expected = alternatives.map(({ here }) =>
      here.map(({ reason }) => reason.slice(came.length)).join(" and")
    );
    const listed = [...new Set(expected)].slice(0, MAX_LISTED);
    return [{ path, reason: came + (listed.join(" or") || " nothing") }];
  }
  const near = alternatives.filter(({ here }) => here.length === 0);
  const meant = near.filter(({ hasConstant }) => !hasConstant);
  const only = [meant, near].find(({ length }) => length === 1)?.[0];
  if (only !== undefined) return only.failures;
  const reasons = (near.length > 0 ? near : alternatives)
    .slice(0, MAX_ALTERNATIVES)
    .map(({ failures }) => formatFailures(failures.slice(0, 1)));
  return [{ path, reason: `${came} to fit one of: ${reasons.join(" | ")}` }];
}

/** @param before The error before this one: a `false` schema is explained by what holds it. */
function explainOne(
  unit: OutputUnit,
  { schema, parts, root }: Attempt,
  before?: OutputUnit,
): SchemaFailure {
  const { keyword, keywordLocation, error } = unit;
  const path = pathOf(unit);
  if (keyword === "false") {
    const holder = before?.keyword.endsWith("Properties")
      ? before.keywordLocation.replace(/\w+$/, "properties")
      : "/";
    const known = Object.keys(
      follow(schema, decodeURIComponent(holder), parts) ?? {},
    );
    const expected = known.length > 0 ? `, expected ${oneOf(known)}` : "";
    return { path, reason: `unexpected${expected}` };
  }
  const [absent, given, name = ""] = ABSENT.exec(error) ?? [];
  if (absent !== undefined) {
    const why = given === undefined ? "" : `, required with ${describe(given)}`;
    return { path: join(path, name), reason: `missing${why}` };
  }
  const came = cameOf(unit, follow(root, path));
  const expected = follow(schema, decodeURIComponent(keywordLocation), parts);
  const phrase = EXPECTED[keyword]?.(expected) ?? show(expected);
  return { path, reason: `${came}, expected ${phrase}` };
}

/** The validator names a missing member in its message only. */
const ABSENT =
  /^Instance (?:has "(.*)" but )?does not have (?:required property )?"(.*)"\.$/s;

function cameOf({ keyword, error }: OutputUnit, value: unknown): string {
  // The validator counts characters, not UTF-16 units.
  const counted = /\d+/.exec(error)?.[0] ?? "none";
  if (keyword === "propertyNames") return "unexpected name";
  if (keyword === "oneOf") return `value fits ${counted} alternatives`;
  if (!/^m..(?:Items|Length|Properties)$/.test(keyword)) {
    return `value is ${describe(value)}`;
  }
  if (Array.isArray(value)) return `size is ${value.length}`;
  return `size is ${isObject(value) ? Object.keys(value).length : counted}`;
}

/** What each keyword expects, to be said after "expected". */
const EXPECTED: Record<string, (value: unknown) => string> = {
  contains: (schema) => `an item that fits ${show(schema)}`,
  enum: (values) => oneOf(values as unknown[]),
  exclusiveMaximum: (limit) => `less than ${limit}`,
  exclusiveMinimum: (limit) => `more than ${limit}`,
  format: (name) => `the format ${describe(name)}`,
  maxContains: (count) => `at most ${count} items that fit "contains"`,
  maximum: (limit) => `at most ${limit}`,
  maxItems: (count) => `at most ${count} items`,
  maxLength: (count) => `at most ${count} characters`,
  maxProperties: (count) => `at most ${count} members`,
  minContains: (count) => `at least ${count} items that fit "contains"`,
  minimum: (limit) => `at least ${limit}`,
  minItems: (count) => `at least ${count} items`,
  minLength: (count) => `at least ${count} characters`,
  minProperties: (count) => `at least ${count} members`,
  multipleOf: (factor) => `a multiple of ${factor}`,
  not: (schema) => `nothing that fits ${show(schema)}`,
  oneOf: () => "exactly one",
  pattern: (source) => `a match of ${describe(source)}`,
  propertyNames: (schema) => `one that fits ${show(schema)}`,
  type: (types) => [types].flat().join(" or "),
  uniqueItems: () => "no two equal items",
};

function oneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, MAX_LISTED).map(show).join(", ");
  if (values.length < 2) return listed || "nothing";
  const more = values.length - MAX_LISTED;
  return `one of ${listed}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Name what a schema says: in full, where it is short. */
function show(value: unknown): string {
  if (typeof value !== "object" || value === null) return describe(value);
  const json = JSON.stringify(value);
  return json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}…`;
}

function messageOf(error: unknown): string {
  if (error instanceof RangeError) return "nested too deep, or without end";
  return error instanceof Error ? error.message.slice(0, 200) : String(error);
}

function join(path: string, name: string | number): string {
  const escaped = String(name).replaceAll("~", "~0").replaceAll("/", "~1");
  return `${path}/${escaped}`;
}

/** The validator gives a pointer as a URI fragment. */
function pathOf({ instanceLocation }: OutputUnit): string {
  return decodeURIComponent(instanceLocation.slice(1));
}

/** What a pointer points to; in a schema, whose parts are given, it leads through each `$ref`. */
function follow(root: unknown, path: string, parts?: Parts): unknown {
  return path.split("/").slice(1).reduce((value, escaped) => {
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    const { $ref, __absolute_ref__: uri } = Object(value);
    const isRef = parts && name === "$ref" && typeof $ref === "string";
    return isRef ? parts[uri ?? $ref] : Object(value)[name];
  }, root);
}
