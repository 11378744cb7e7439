/**
 * One line to stderr: level, name, text without control characters. The only
 * file that writes to stderr.
 *
 * Lines are written in the background: a reader of stderr that has stopped
 * reading costs lines, never the caller's time.
 *
 * @module
 */

import { describe } from "../protocol/jsonrpc.ts";

/** How much a line matters. */
export type LogLevel = "DEBUG" | "INFO" | "WARNING" | "ERROR";

/** The levels, lowest first. */
export const LOG_LEVELS: readonly LogLevel[] = [
  "DEBUG",
  "INFO",
  "WARNING",
  "ERROR",
];

/** Options for a {@linkcode Logger}. */
export interface LoggerOptions {
  /**
   * The lowest level that is written.
   *
   * @default {"INFO"}
   */
  level?: LogLevel;
  /**
   * Where finished text goes.
   *
   * @default {writeStderr}
   */
  write?: (text: string) => void;
}

/** Writes lines of the form `LEVEL name: text`. */
export class Logger {
  readonly #name: string;
  readonly #lowest: number;
  readonly #write: (text: string) => void;

  /**
   * @param name Who speaks, such as `miniagent.server`.
   * @param options The lowest level, and where the lines go.
   * @throws {RangeError} If there is no such level.
   */
  constructor(name: string, options: LoggerOptions = {}) {
    this.#name = name;
    const { level = "INFO" } = options;
    this.#lowest = LOG_LEVELS.indexOf(level);
    if (this.#lowest < 0) {
      throw new RangeError(
        `Cannot log: level is ${describe(level)}, expected one of ` +
          LOG_LEVELS.join(", "),
      );
    }
    this.#write = options.write ?? writeStderr;
  }

  /** @param text What only a developer wants to know. */
  debug(text: string): void {
    this.#log("DEBUG", text);
  }

  /** @param text What happened, as it should. */
  info(text: string): void {
    this.#log("INFO", text);
  }

  /** @param text What is odd, though served. */
  warning(text: string): void {
    this.#log("WARNING", text);
  }

  /**
   * @param text What failed.
   * @param thrown What was thrown, if anything was. Of an `Error` the stack
   * follows, a line each.
   */
  error(text: string, ...thrown: unknown[]): void {
    const title = [text, ...thrown.map(titleOf)].join(": ");
    this.#log("ERROR", title, thrown.flatMap(framesOf));
  }

  #log(level: LogLevel, text: string, more: readonly string[] = []): void {
    if (LOG_LEVELS.indexOf(level) < this.#lowest) return;
    this.#write(
      [cut(text), ...more].map((line) =>
        `${level} ${this.#name}: ${singleLine(line)}\n`
      ).join(""),
    );
  }
}

function titleOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "a value that cannot be shown";
  }
}

/** The frames of a stack, not what stands before them: a message may hold lines that look like more. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { message, stack = "" } = error;
  const end = stack.indexOf(message) + message.length;
  return stack.slice(end).split("\n").filter((line) => /^ +at /.test(line));
}

const MAX_TEXT_CHARACTERS = 8192;

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARACTERS
    ? text
    : `${text.slice(0, MAX_TEXT_CHARACTERS)}… (${text.length} characters)`;
}

/** No control character at all, not even a tab, comes from input into the log. */
function singleLine(text: string): string {
  return printable(text).replaceAll("\t", "\\u0009");
}

/**
 * Show control characters as escapes, so that foreign text cannot steer a
 * terminal or forge a line.
 *
 * @param text Any text.
 * @returns The text with each control character, line and bidirectional mark
 * as `\uXXXX`; a tab stays.
 */
export function printable(text: string): string {
  const controls = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
  return text.replace(
    controls,
    (character) =>
      `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** How much may wait for a reader of stderr that does not read. */
const MAX_WAITING_CHARACTERS = 256 * 1024;

const encoder = new TextEncoder();
let waiting: string[] = [];
let waitingCharacters = 0;
let dropped = 0;
let writing: Promise<void> | undefined;

/**
 * Queue text for stderr. Past 256 Ki characters that nobody reads, text is
 * dropped, and the number of lost pieces said when there is room again.
 *
 * @param text Whole lines.
 */
export function writeStderr(text: string): void {
  if (waitingCharacters + text.length > MAX_WAITING_CHARACTERS) {
    dropped++;
    return;
  }
  waiting.push(text);
  waitingCharacters += text.length;
  writing ??= writeWaiting();
}

/**
 * Wait until what was queued for stderr is written.
 *
 * @param timeoutMs How long at most, in milliseconds.
 */
export async function flushStderr(timeoutMs: number): Promise<void> {
  if (writing === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([writing, promise]);
  clearTimeout(timer);
}

async function writeWaiting(): Promise<void> {
  while (waiting.length > 0) {
    const lost = dropped > 0 ? `(${dropped} log lines lost)\n` : "";
    let rest = encoder.encode(waiting.join("") + lost);
    waiting = [];
    waitingCharacters = 0;
    dropped = 0;
    try {
      while (rest.length > 0) {
        rest = rest.subarray(await Deno.stderr.write(rest));
      }
    } catch {
      // Nobody holds the other end of stderr: there is nowhere left to say so.
    }
  }
  writing = undefined;
}

/** How many keep stdout clean at the moment, and what gives `console` back. */
let keepers = 0;
let restore: () => void = () => {};

/**
 * Send all that `console` prints to stderr, through the same queue as log
 * lines: stdout carries protocol only.
 *
 * @returns Undoes it, once all who asked for it have done so.
 */
export function keepStdoutClean(): () => void {
  if (keepers++ === 0) restore = redirectConsole();
  return () => {
    if (--keepers === 0) restore();
  };
}

function redirectConsole(): () => void {
  const target = console;
  const methods = { ...target };
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  const print = (...values: unknown[]): void =>
    writeStderr(`${format(values)}\n`);
  const sinceStart = (label = "default", ...values: unknown[]): void => {
    const start = starts.get(label);
    const ms = start === undefined ? NaN : performance.now() - start;
    print(`${label}: ${ms} ms`, ...values);
  };
  Object.assign(target, {
    log: print,
    info: print,
    debug: print,
    warn: print,
    error: print,
    trace: print,
    dir: (value: unknown) => print(value),
    dirxml: print,
    table: print,
    group: print,
    groupCollapsed: print,
    clear: () => {},
    assert: (condition: unknown, ...values: unknown[]): void => {
      if (!condition) print(`Assertion failed: ${format(values)}`);
    },
    count: (label = "default"): void => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      print(`${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default"): void => {
      counts.delete(label);
    },
    time: (label = "default"): void => {
      starts.set(label, performance.now());
    },
    timeLog: sinceStart,
    timeEnd: (label = "default"): void => {
      sinceStart(label);
      starts.delete(label);
    },
  });
  return () => Object.assign(target, methods);
}

/** Console Standard §2.2, "Formatter": `%s`, `%d` and their like stand for the values that follow. */
function format(values: unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== "string") return values.map(show).join(" ");
  const text = first.replace(/%[sdifoOjc%]/g, (directive) => {
    if (directive === "%%") return "%";
    if (rest.length === 0) return directive;
    const value = rest.shift();
    if (directive === "%c") return "";
    if (/[dif]/.test(directive)) {
      const number = parseFloat(show(value));
      return String(directive === "%i" ? Math.trunc(number) : number);
    }
    return directive === "%s" ? show(value) : Deno.inspect(value);
  });
  return [text, ...rest.map(show)].join(" ");
}

function show(value: unknown): string {
  return typeof value === "string" ? value : Deno.inspect(value);
}
