/**
 * Offline stand-in for `jsr:@std/assert`, for machines that cannot reach JSR.
 *
 * It is not the real package: it has only what this project's tests use, with
 * the same names, signatures and verdicts, and words its failures through
 * `node:assert/strict`. Remove the `links` line in `deno.json` to test with the
 * real one.
 *
 * @module
 */
import { AssertionError as NodeAssertionError } from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";

// deno-lint-ignore no-explicit-any
type Class<T> = abstract new (...args: any[]) => T;
type Loose = Record<PropertyKey, unknown>;

/** Thrown by every assertion that does not hold. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

/** Throws `what`, followed by the caller's own words if there are any. */
function die(what: string, msg?: string, details = ""): never {
  throw new AssertionError(`${what}${msg ? `: ${msg}` : "."}${details}`);
}

function show(value: unknown): string {
  return Deno.inspect(value, {
    depth: 100,
    sorted: true,
    strAbbreviateSize: 1e9,
  });
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null;
}

/** Where two values part: line by line if they have lines to compare. */
function difference(actual: unknown, expected: unknown): string {
  let pair = [actual, expected];
  if (pair.every((value) => typeof value === "string" && /\n/.test(value))) {
    pair = pair.map((value) => String(value).split("\n"));
  }
  if (!pair.every(isObject)) {
    return `\n\n  actual:   ${show(actual)}\n  expected: ${show(expected)}\n`;
  }
  const { message } = new NodeAssertionError({
    actual: pair[0],
    expected: pair[1],
    operator: "deepStrictEqual",
  });
  return message.slice(message.indexOf("\n"));
}

function isTypedArray(value: object): value is Uint8Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function prototypeOf(value: object): unknown {
  return Object.getPrototypeOf(value) ?? Object.prototype;
}

/** Every key that counts: for a class instance, those of its class as well. */
function keysOf(value: object): PropertyKey[] {
  const plain: unknown[] = [Object.prototype, Array.prototype];
  if (plain.includes(prototypeOf(value))) return Reflect.ownKeys({ ...value });
  const keys: PropertyKey[] = [];
  let link: object | null = value;
  while (link && !plain.includes(link)) {
    keys.push(...Reflect.ownKeys(link));
    link = Object.getPrototypeOf(link);
  }
  return keys;
}

/** Whether two values are deeply equal. */
export function equal(a: unknown, b: unknown): boolean {
  const seen = new Map<unknown, unknown>();
  function same(a: unknown, b: unknown): boolean {
    if (a === b || Object.is(a, b)) return true;
    if (!isObject(a) || !isObject(b)) return false;
    if (prototypeOf(a) !== prototypeOf(b)) return false;
    if (seen.get(a) === b) return true;
    seen.set(a, b);
    const result = sameContent(a, b);
    if (!result) seen.delete(a);
    return result;
  }
  function sameContent(a: object, b: object): boolean {
    if (a instanceof WeakMap || a instanceof WeakSet) {
      throw new TypeError(`Cannot compare ${a.constructor.name} instances`);
    }
    if (a instanceof Date && b instanceof Date) {
      return Object.is(a.getTime(), b.getTime());
    }
    if (a instanceof ArrayBuffer && b instanceof ArrayBuffer) {
      return same(new Uint8Array(a), new Uint8Array(b));
    }
    if (
      a instanceof RegExp || a instanceof URL || a instanceof URLSearchParams
    ) {
      return String(a) === String(b);
    }
    if (isTypedArray(a) && isTypedArray(b)) {
      return a.length === b.length &&
        Array.from(a).every((item, i) => same(item, b[i]));
    }
    if (a instanceof Set && b instanceof Set) {
      return a.size === b.size &&
        [...a].every((x) =>
          b.has(x) || (isObject(x) && [...b].some((y) => same(x, y)))
        );
    }
    if (a instanceof Map && b instanceof Map) {
      return a.size === b.size &&
        [...a].every(([k, v]) =>
          (b.has(k) && same(v, b.get(k))) ||
          (isObject(k) && [...b].some(([l, w]) => same(k, l) && same(v, w)))
        );
    }
    return Object.keys(a).length === Object.keys(b).length &&
      [...keysOf(a), ...keysOf(b)].every((key) =>
        key in a && key in b && same((a as Loose)[key], (b as Loose)[key])
      );
  }
  return same(a, b);
}

/** Asserts that `expr` is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Asserts that two values are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  die("Values are not equal", msg, difference(actual, expected));
}

/** Asserts that two values are not deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  die(`Expected actual: ${show(actual)} not to be: ${show(expected)}`, msg);
}

/** Asserts that two values are the same value, as `Object.is` has it. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  if (show(actual) !== show(expected)) {
    die("Values are not strictly equal", msg, difference(actual, expected));
  }
  const what = "Values have the same structure but are not reference-equal";
  die(what, msg, `\n\n${show(actual)}\n`);
}

/** Asserts that `actual` contains `expected`. */
export function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void {
  if (actual.includes(expected)) return;
  die(`Expected actual: "${actual}" to contain: "${expected}"`, msg);
}

/** Asserts that `actual` matches the pattern `expected`. */
export function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void {
  if (expected.test(actual)) return;
  die(`Expected actual: "${actual}" to match: "${expected}"`, msg);
}

/** Asserts that `actual` is an instance of `expectedType`. */
export function assertInstanceOf<
  // deno-lint-ignore no-explicit-any
  T extends abstract new (...args: any[]) => any,
>(
  actual: unknown,
  expectedType: T,
  msg = "",
): asserts actual is InstanceType<T> {
  if (actual instanceof expectedType) return;
  const type = isObject(actual)
    ? actual.constructor?.name ?? "Object"
    : actual === null
    ? "null"
    : typeof actual;
  const what = `Expected object to be an instance of "${expectedType.name}"`;
  die(`${what} but was "${type}"`, msg);
}

/** Asserts that `actual` is neither `null` nor `undefined`. */
export function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  die(`Expected actual: "${actual}" to not be null or undefined`, msg);
}

function order(
  [a, b]: [unknown, unknown],
  op: string,
  holds: boolean,
  msg: string | undefined,
): void {
  if (holds) return;
  throw new AssertionError(msg ?? `Expect ${show(a)} ${op} ${show(b)}`);
}

/** Asserts that `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  order([actual, expected], ">", actual > expected, msg);
}

/** Asserts that `actual >= expected`. */
export function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  order([actual, expected], ">=", actual >= expected, msg);
}

/** Asserts that `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  order([actual, expected], "<", actual < expected, msg);
}

/** Asserts that `actual <= expected`. */
export function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  order([actual, expected], "<=", actual <= expected, msg);
}

/** Asserts that `actual` has every value of `expected`, deeply compared. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T> & object,
  expected: ArrayLike<T> & object,
  msg?: string,
): void {
  const held = Array.from(actual);
  const missing = Array.from(expected).filter((item) =>
    !held.some((value) => equal(value, item))
  );
  if (missing.length === 0) return;
  const what = `Expected actual: "${show(actual)}" to include: "${
    show(expected)
  }"`;
  die(what, msg, `\nmissing: ${show(missing)}`);
}

/** What `a` has of what `b` asks for, its class instances as plain objects. */
function project(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b)) return a;
  if (a instanceof RegExp || a instanceof Date) return a;
  if (a instanceof Set && b instanceof Set) return a.intersection(b);
  if (a instanceof Map && b instanceof Map) {
    const shared = [...a].filter(([key]) => b.has(key));
    return new Map(shared.map(([k, value]) => [k, project(value, b.get(k))]));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.slice(0, b.length).map((value, i) => project(value, b[i]));
  }
  const shared = Reflect.ownKeys(a).filter((key) => Object.hasOwn(b, key));
  return Object.fromEntries(shared.map((k) => [k, project(a[k], b[k])]));
}

/** Asserts that `actual` has, deeply, everything that `expected` has. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals(
    project(actual, expected),
    project(expected, expected),
    msg,
  );
}

function checkError(
  error: unknown,
  verb: string,
  ErrorClass: Class<Error>,
  includes?: string,
  msg?: string,
): void {
  if (!(error instanceof Error)) die(`A non-Error object was ${verb}`, msg);
  const { name } = error.constructor;
  if (!(error instanceof ErrorClass)) {
    const what = `Expected error to be instance of "${ErrorClass.name}"`;
    die(`${what}, but was "${name}"`, msg);
  }
  const got = stripVTControlCharacters(error.message);
  if (includes && !got.includes(stripVTControlCharacters(includes))) {
    const what = `Expected error message to include ${
      JSON.stringify(includes)
    }`;
    die(`${what}, but got ${JSON.stringify(error.message)}`, msg);
  }
}

/** Asserts that `fn` throws, and returns what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Asserts that `fn` throws such an error, and returns it. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: Class<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(
  fn: () => unknown,
  expected?: Class<Error> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const words = typeof expected === "string" ? expected : msg;
  try {
    fn();
  } catch (error) {
    if (typeof expected === "function") {
      checkError(error, "thrown", expected, msgIncludes, words);
    }
    return error;
  }
  die("Expected function to throw", words);
}

/** Asserts that the promise of `fn` rejects, and resolves to the reason. */
export function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
/** Asserts that the promise of `fn` rejects with such an error. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: Class<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects(
  fn: () => PromiseLike<unknown>,
  expected?: Class<Error> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const words = typeof expected === "string" ? expected : msg;
  let promise: PromiseLike<unknown> | undefined;
  try {
    promise = fn();
  } catch { /* reported below: it had to reject, not to throw */ }
  if (typeof promise?.then !== "function") {
    die("Function throws when expected to reject", words);
  }
  try {
    await promise;
  } catch (error) {
    if (typeof expected === "function") {
      checkError(error, "rejected", expected, msgIncludes, words);
    }
    return error;
  }
  die("Expected function to reject", words);
}

/** Fails. */
export function fail(msg?: string): never {
  die("Failed assertion", msg);
}

/** Fails: the test should not have come here. */
export function unreachable(msg?: string): never {
  die("Unreachable", msg);
}
