/**
 * A server as a child process: spawn it, drain its stderr, close it politely,
 * then less so. The only file that names `Deno.Command`.
 *
 * What goes through its stdin and stdout is left to `server_connection.ts`.
 *
 * @module
 */

import { messageOf, TransportError } from "../protocol/errors.ts";
import { Breather } from "./breather.ts";
import { type Logger, printable, writeStderr } from "./log.ts";

/** Where a server runs, and who hears its stderr. */
export interface ServerProcessOptions {
  /** The working directory; if absent, ours. */
  cwd?: string | undefined;
  /** Variables added to the environment, or all of it with `clearEnv`. */
  env?: Record<string, string> | undefined;
  /** Whether to keep our own environment from the server. */
  clearEnv?: boolean | undefined;
  /** How long the server may take to exit once its stdin is closed, in milliseconds. */
  closeTimeoutMs: number;
  /** Hears each line of stderr; if absent, the line goes to our stderr behind `[server] `. */
  onStderr?: ((line: string) => void) | undefined;
  /** Where the steps of the shutdown are reported. */
  log: Logger;
}

/** How a server ended. */
export interface ServerExit {
  /** The exit code, 128 and the signal's number if a signal ended it. */
  code: number;
  /** The signal, `null` if none. */
  signal: string | null;
}

/** A server that was started, until it is closed. */
export class ServerProcess {
  /** The program that was started. */
  readonly program: string;
  /** What the server reads. */
  readonly stdin: WritableStream<Uint8Array>;
  /** What the server writes. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Settles once the server has exited and its last lines were read. */
  readonly exited: Promise<ServerExit>;
  /** Whether an error has told how it exited: the end need not tell it again. */
  exitTold = false;

  readonly #child: Deno.ChildProcess;
  readonly #stderr: ReadableStreamDefaultReader<Uint8Array>;
  readonly #drained: Promise<void>;
  readonly #options: ServerProcessOptions;
  readonly #lastLines: string[] = [];
  #closing: Promise<void> | undefined;

  /**
   * @param command The program and its arguments, with no shell in between.
   * @param options Where it runs, and who hears its stderr.
   * @throws {TransportError} If it cannot be started.
   */
  constructor(command: readonly string[], options: ServerProcessOptions) {
    this.program = command[0] ?? "";
    this.#options = options;
    this.#child = spawn(command, options);
    this.stdin = this.#child.stdin;
    this.stdout = this.#child.stdout;
    this.#stderr = this.#child.stderr.getReader();
    this.#drained = this.#drain();
    this.exited = this.#awaitExit();
  }

  /** What the server last wrote to stderr, a line an entry, 20 at most. */
  get lastLines(): readonly string[] {
    return this.#lastLines;
  }

  /**
   * End the process, by the steps of MCP 2025-11-25, basic/lifecycle,
   * "Shutdown", stdio. A second call gives the same promise.
   *
   * @param closeStdin Closes the stream that the caller holds.
   */
  close(closeStdin: () => void): Promise<void> {
    return this.#closing ??= this.#close(closeStdin);
  }

  async #close(closeStdin: () => void): Promise<void> {
    const { closeTimeoutMs, log } = this.#options;
    // "First, closing the input stream to the child process (the server)"
    closeStdin();
    // "Waiting for the server to exit, or sending SIGTERM if the server does
    // not exit within a reasonable time"
    let exit = await within(closeTimeoutMs, this.exited);
    if (exit === undefined) {
      log.warning(
        `Server ${JSON.stringify(this.program)} did not exit within ` +
          `${closeTimeoutMs} ms after its stdin was closed; sending SIGTERM`,
      );
      this.#kill("SIGTERM");
      exit = await within(SIGTERM_TIMEOUT_MS, this.exited);
    }
    // "Sending SIGKILL if the server does not exit within a reasonable time
    // after SIGTERM"
    if (exit === undefined) {
      log.warning(
        `Server ${JSON.stringify(this.program)} did not exit within ` +
          `${SIGTERM_TIMEOUT_MS} ms after SIGTERM; sending SIGKILL`,
      );
      this.#kill("SIGKILL");
      exit = await within(SIGKILL_TIMEOUT_MS, this.exited);
    }
    if (exit?.code !== 0 && !this.exitTold) {
      log.warning(`Server ${describeExit(this.program, exit, this.lastLines)}`);
    }
  }

  #kill(signal: Deno.Signal): void {
    try {
      this.#child.kill(signal);
    } catch (error) {
      // "Child process has already terminated": that is what was wanted.
      if (error instanceof TypeError) return;
      this.#options.log.warning(`Cannot send ${signal}: ${messageOf(error)}`);
    }
  }

  async #awaitExit(): Promise<ServerExit> {
    const { code, signal } = await this.#child.status;
    // A grandchild may hold the pipe open; its lines are not the server's.
    const drained = this.#drained.then(() => true);
    if (!await within(DRAIN_TIMEOUT_MS, drained)) await this.#stderr.cancel();
    await drained;
    return { code, signal };
  }

  async #drain(): Promise<void> {
    const breather = new Breather();
    const lines = new LineCutter((line) => this.#hear(line));
    try {
      for (;;) {
        const { done, value } = await this.#stderr.read();
        if (done) break;
        lines.push(value);
        await breather.breathe();
      }
    } catch (error) { // reached where the system breaks the pipe
      this.#options.log.warning(
        `Cannot read the server's stderr: ${messageOf(error)}`,
      );
    }
    lines.end();
  }

  #hear(line: string): void {
    const plain = line.replace(COLORS, "");
    if (plain !== "") this.#lastLines.push(plain);
    if (this.#lastLines.length > MAX_LAST_LINES) this.#lastLines.shift();
    const { onStderr, log } = this.#options;
    if (onStderr === undefined) {
      writeStderr(`[server] ${printable(plain)}\n`);
      return;
    }
    try {
      onStderr(line);
    } catch (error) {
      log.error(`onStderr failed: ${messageOf(error)}`);
    }
  }
}

/** What colors a terminal (ECMA-48 §8.3.117): in an error message it only hides the text. */
const COLORS = /\p{Cc}\[[0-9;]*m/gu;
const SIGTERM_TIMEOUT_MS = 1000;
const SIGKILL_TIMEOUT_MS = 1000;
const DRAIN_TIMEOUT_MS = 250;
const MAX_LAST_LINES = 20;
const MAX_LINE_CHARACTERS = 4096;

function spawn(
  command: readonly string[],
  options: ServerProcessOptions,
): Deno.ChildProcess {
  const [program, ...args] = command;
  if (program === undefined) {
    throw new TypeError("Cannot start a server: the command is empty");
  }
  const { cwd, env, clearEnv } = options;
  try {
    return new Deno.Command(program, {
      args,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(clearEnv === undefined ? {} : { clearEnv }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    throw new TransportError(
      `Cannot start ${JSON.stringify(program)}: ` +
        `${messageOf(error)}${startHint(program, error)}`,
      { cause: error },
    );
  }
}

function startHint(program: string, error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) {
    return `; --allow-run=${program} is enough`;
  }
  return error instanceof Deno.errors.NotFound && /\s/.test(program)
    ? "; the program and each of its arguments are strings of their own"
    : "";
}

/**
 * Say how a process ended, for an error message.
 *
 * @param program The program.
 * @param exit How it ended, `undefined` if it is not known to have ended.
 * @param lastLines What it last wrote to stderr.
 * @returns `"deno" exited with code 1; its last stderr lines are "…"`.
 */
export function describeExit(
  program: string,
  exit: ServerExit | undefined,
  lastLines: readonly string[],
): string {
  const how = exit === undefined
    ? "has not exited"
    : exit.signal === null
    ? `exited with code ${exit.code}`
    : `was ended by ${exit.signal}`;
  const said = lastLines.length === 0
    ? "it wrote nothing to stderr"
    : `its last stderr lines are ${
      lastLines.map((line) => JSON.stringify(line)).join(", ")
    }`;
  return `${JSON.stringify(program)} ${how}; ${said}`;
}

/**
 * Wait for a promise, but not longer than a time.
 *
 * @param timeoutMs How long at most, in milliseconds.
 * @param promise What to wait for.
 * @returns Its value, or `undefined` once the time is over.
 */
export async function within<T>(
  timeoutMs: number,
  promise: Promise<T>,
): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Cuts bytes into lines of text. Of a line without end, only the beginning is kept. */
class LineCutter {
  readonly #hear: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #line = "";
  #lineCharacters = 0;

  constructor(hear: (line: string) => void) {
    this.#hear = hear;
  }

  push(bytes: Uint8Array): void {
    this.#add(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#add(this.#decoder.decode());
    if (this.#lineCharacters > 0) this.#finish();
  }

  #add(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#extend(first);
    for (const part of rest) {
      this.#finish();
      this.#extend(part);
    }
  }

  #extend(text: string): void {
    this.#lineCharacters += text.length;
    this.#line += text.slice(0, MAX_LINE_CHARACTERS - this.#line.length);
  }

  #finish(): void {
    const cut = this.#lineCharacters - this.#line.length;
    const line = this.#line.replace(/\r$/, "");
    this.#line = "";
    this.#lineCharacters = 0;
    this.#hear(cut > 0 ? `${line}… (${cut} characters more)` : line);
  }
}
