/**
 * The gate that schemas and values pass: plain ones at sight, all others through
 * the validator of `_schema.ts`, which is loaded when one first needs it.
 *
 * Loading it takes a fifth of the server's start-up, and most sessions never
 * meet a schema or a value that needs it.
 *
 * @module
 */

import { compilePlain, type Fits, isPlain } from "./_plain_schema.ts";
import type { Dialect } from "./_schema.ts";

/** What is wrong, each failure with its path; `undefined` if nothing is. */
export type Faults = string | undefined;

type Validator = typeof import("./_schema.ts");

let validator: Validator | undefined;

async function loadValidator(): Promise<Validator> {
  return validator = await import("./_schema.ts");
}

/** What accepts at sight, by schema; `undefined` for one that is not plain. */
const plain = new WeakMap<object, Fits | undefined>();

function plainFits(schema: object): Fits | undefined {
  if (!plain.has(schema)) plain.set(schema, compileCopy(schema));
  return plain.get(schema);
}

/** What is not even JSON, or nested too deep, is for the validator to refuse. */
function compileCopy(schema: object): Fits | undefined {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(schema));
    return isPlain(copy) ? compilePlain(copy) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Find what is wrong with a schema, in every dialect that it may be read in:
 * the one that its `$schema` names, or both.
 *
 * @param schema Anything.
 * @returns The faults.
 */
export async function findSchemaFaults(schema: unknown): Promise<Faults> {
  if (typeof schema === "object" && schema !== null && plainFits(schema)) {
    return undefined;
  }
  const { checkSchema, formatFailures } = validator ?? await loadValidator();
  for (const dialect of ["7", "2020-12"] as const) {
    const failures = checkSchema(schema, dialect);
    if (failures.length > 0) return formatFailures(failures);
  }
  return undefined;
}

/**
 * Find why a value does not fit a schema.
 *
 * @param schema The schema. Later changes of it need not be seen.
 * @param dialect What holds where the schema has no `$schema`.
 * @param value The value.
 * @returns The faults; a promise of them if the validator is not loaded yet. It
 * rejects, or the call throws, as `compileSchema` of `_schema.ts` does.
 */
export function findFaults(
  schema: Record<string, unknown>,
  dialect: Dialect,
  value: unknown,
): Faults | Promise<Faults> {
  // Right because it accepts only what the validator accepts as well.
  if (plainFits(schema)?.(value)) return undefined;
  return validator === undefined
    ? loadValidator().then(() => findFaults(schema, dialect, value))
    : faultsOf(validator, schema, dialect, value);
}

function faultsOf(
  { compileSchema, formatFailures }: Validator,
  schema: Record<string, unknown>,
  dialect: Dialect,
  value: unknown,
): Faults {
  const failures = compileSchema(schema, dialect)(value);
  return failures.length > 0 ? formatFailures(failures) : undefined;
}
