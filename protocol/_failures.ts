/**
 * Why a value does not fit its schema, for whoever must mend it: the deepest
 * reasons only, each with its path, what came and what was expected.
 *
 * The verdict, and the errors explained here, are the validator's: see
 * `_schema.ts`.
 *
 * @module
 */

import { describe, isObject } from "./jsonrpc.ts";

/** One place where a value does not fit its schema. */
export interface SchemaFailure {
  /** Where, as a JSON Pointer (RFC 6901): `""` for the whole value. */
  path: string;
  /** What came and what was expected. */
  reason: string;
}

/** One error of the validator (JSON Schema 2020-12, "Output Formatting"). */
interface OutputUnit {
  /** The keyword that failed. */
  keyword: string;
  /** Where it stands in the schema, as a URI fragment. */
  keywordLocation: string;
  /** Where the value lies that failed it, as a URI fragment. */
  instanceLocation: string;
  /** The validator's own words. */
  error: string;
}

/** A schema and the value that does not fit it. */
interface Attempt {
  /** The schema. */
  schema: unknown;
  /** Each part of it by its URI. */
  parts: Record<string, unknown>;
  /** The value. */
  root: unknown;
}

/** How many failures, or expected values, one message lists. */
const MAX_LISTED = 20;
/** How much of what a schema says one message repeats, in characters. */
const MAX_SHOWN = 80;
/** How many of the alternatives that do not fit one message explains. */
const MAX_ALTERNATIVES = 5;

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

/**
 * Make failures of the validator's errors, which come outermost first.
 *
 * @param units The errors.
 * @param attempt The schema and the value.
 * @returns At least one failure, none twice.
 */
export function explainErrors(
  units: OutputUnit[],
  attempt: Attempt,
): SchemaFailure[] {
  const failures = explain(units, attempt);
  const distinct = new Map(failures.map((f) => [`${f.path} ${f.reason}`, f]));
  if (distinct.size === 0) return [{ path: "", reason: "unexpected" }];
  return [...distinct.values()];
}

/** Keywords whose error says less than the ones after it. */
const WRAPPERS =
  /^(?:\$ref|\$recursiveRef|allOf|if|dependentSchemas|additionalItems|items|prefixItems|unevaluatedItems|additionalProperties|patternProperties|properties|unevaluatedProperties)$/;

/** Keywords whose error says more than those after it that lie inside it. */
const GROUPS = /^(?:anyOf|oneOf|contains|propertyNames)$/;

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
      !quiet.some((prefix) => keywordLocation.startsWith(prefix)) &&
      !isRepeated(unit, before, failures)
    ) {
      failures.push(explainOne(unit, attempt, before));
    }
  }
  return failures;
}

/** A member that fails its own schema counts as unevaluated besides, which says nothing more. */
function isRepeated(
  unit: OutputUnit,
  before: OutputUnit | undefined,
  failures: readonly SchemaFailure[],
): boolean {
  const place = unit.keyword === "false" ? before : unit;
  if (!UNEVALUATED.test(place?.keywordLocation ?? "")) return false;
  const path = pathOf(unit);
  return failures.some((failure) =>
    failure.path === path || failure.path.startsWith(`${path}/`)
  );
}

const UNEVALUATED = /\/unevaluated(?:Items|Properties)(?:\/|$)/;

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

/**
 * List what is expected, in an error message.
 *
 * @param values The values.
 * @returns `one of "a", "b"`, cut where they are many.
 */
export function oneOf(values: readonly unknown[]): string {
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

/**
 * Extend a JSON Pointer.
 *
 * @param path The pointer.
 * @param name The member or index it goes on with.
 * @returns The longer pointer.
 */
export function join(path: string, name: string | number): string {
  const escaped = String(name).replaceAll("~", "~0").replaceAll("/", "~1");
  return `${path}/${escaped}`;
}

/** The validator gives a pointer as a URI fragment. */
function pathOf({ instanceLocation }: OutputUnit): string {
  return decodeURIComponent(instanceLocation.slice(1));
}

/** What a pointer points to; in a schema, whose parts are given, it leads through each `$ref`. */
function follow(
  root: unknown,
  path: string,
  parts?: Record<string, unknown>,
): unknown {
  return path.split("/").slice(1).reduce((value, escaped) => {
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    const { $ref, __absolute_ref__: uri } = Object(value);
    const isRef = parts && name === "$ref" && typeof $ref === "string";
    return isRef ? parts[uri ?? $ref] : Object(value)[name];
  }, root);
}
