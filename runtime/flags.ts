/**
 * Flags to options, for both command lines. What a flag means is left to
 * `server.ts` and `client.ts`.
 *
 * @module
 */

/** A mistake on the command line: its message is for the person who made it. */
export class UsageError extends Error {
  /** The class's name. */
  override name = "UsageError";
}

/** One flag of a program. */
export interface Flag {
  /** Turns the text after the flag into a value; absent for a flag without one. */
  parse?: (text: string) => unknown;
}

/** What {@linkcode parseFlags} gives. */
export interface ParsedFlags {
  /** The values by flag name, `true` for a flag without one. */
  flags: Map<string, unknown>;
  /** The words that are no flags, in order. */
  words: string[];
  /** What came after `--`, if there was one. */
  rest: string[] | undefined;
}

/**
 * Split a command line into flags, words and what comes after `--`.
 *
 * Flags are `--name value` or `--name=value`. A flag given twice keeps the
 * last value.
 *
 * @param args The arguments of the program.
 * @param known The flags it takes, by name without `--`.
 * @returns The values, the words and the rest.
 * @throws {UsageError} If a flag is unknown, lacks its value or has one too
 * many, or if its value does not parse.
 */
export function parseFlags(
  args: readonly string[],
  known: ReadonlyMap<string, Flag>,
): ParsedFlags {
  const flags = new Map<string, unknown>();
  const words: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ""; // never absent
    if (arg === "--") return { flags, words, rest: args.slice(i + 1) };
    if (!arg.startsWith("-") || arg === "-") {
      words.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    const given = equals < 0 ? arg : arg.slice(0, equals);
    const name = given === "-h" ? "help" : given.slice(2);
    const flag = known.get(name);
    if (flag === undefined || !(given.startsWith("--") || given === "-h")) {
      throw new UsageError(
        `Unknown flag ${JSON.stringify(given)}: expected one of ` +
          [...known.keys()].map((key) => `--${key}`).join(", "),
      );
    }
    if (flag.parse === undefined) {
      if (equals >= 0) {
        throw new UsageError(`Flag --${name} takes no value`);
      }
      flags.set(name, true);
      continue;
    }
    const text = equals < 0 ? args[++i] : arg.slice(equals + 1);
    if (text === undefined) {
      throw new UsageError(`Flag --${name} needs a value`);
    }
    flags.set(name, parseValue(name, text, flag.parse));
  }
  return { flags, words, rest: undefined };
}

function parseValue(
  name: string,
  text: string,
  parse: (text: string) => unknown,
): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      `Flag --${name} is ${JSON.stringify(text)}, expected ${error.message}`,
      { cause: error },
    );
  }
}

/**
 * Make a parser that takes one of some words.
 *
 * @param choices The words.
 * @returns A parser for {@linkcode Flag.parse}.
 */
export function oneOf<T extends string>(
  choices: readonly T[],
): (text: string) => T {
  return (text) => {
    const choice = choices.find((choice) => choice === text);
    if (choice === undefined) {
      throw new UsageError(`one of ${choices.join(", ")}`);
    }
    return choice;
  };
}

/**
 * Parse a whole number of at least 1.
 *
 * @param text The digits.
 * @returns The number.
 * @throws {UsageError} If it is anything else.
 */
export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < 1) {
    throw new UsageError("a whole number, at least 1");
  }
  return value;
}
