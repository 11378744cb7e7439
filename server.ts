/**
 * The server: {@linkcode dispatch} answers one message, {@linkcode serve} reads
 * and answers a stream of them, and the file itself is the program that serves
 * our tools.
 *
 * ```sh
 * deno run server.ts
 * ```
 *
 * Framing is left to `framing.ts`, the methods to `protocol/_methods.ts`, the
 * tools to `tools/`.
 *
 * @module
 */

import {
  classifyMessage,
  describe,
  ErrorCode,
  errorResponse,
  type RequestId,
} from "./protocol/jsonrpc.ts";
import {
  FramingError,
  messageOf,
  ProtocolError,
  TransportError,
} from "./protocol/errors.ts";
import { VERSION } from "./protocol/_meta.ts";
import { findSchemaFaults } from "./protocol/_schema_gate.ts";
import { type Answer, dispatch } from "./protocol/_dispatch.ts";
import {
  endSubscriptions,
  type Implementation,
  INTERNAL_ERROR,
  type Session,
  type SessionLog,
} from "./protocol/_methods.ts";
import {
  DEFAULT_MAX_MESSAGE_BYTES,
  MessageReader,
  MessageWriter,
} from "./framing.ts";
import {
  flushStderr,
  keepStdoutClean,
  LOG_LEVELS,
  Logger,
  type LogLevel,
  printable,
  writeStderr,
} from "./runtime/log.ts";
import {
  oneOf,
  parseFlags,
  positiveInteger,
  UsageError,
} from "./runtime/flags.ts";
import { registeredTools } from "./tools/registry.ts";

export { dispatch };
export type { Answer, Implementation, LogLevel, Session, SessionLog };

/** Options for {@linkcode serve}. */
export interface ServeOptions {
  /**
   * Where messages come from.
   *
   * @default {Deno.stdin.readable}
   */
  readable?: ReadableStream<Uint8Array> | undefined;
  /**
   * Where answers go.
   *
   * @default {Deno.stdout.writable}
   */
  writable?: WritableStream<Uint8Array> | undefined;
  /**
   * Who the server says it is.
   *
   * @default {{ name: "miniagent-server", version: "0.1" }}
   */
  serverInfo?: Implementation | undefined;
  /** How to use the tools, for the model. */
  instructions?: string | undefined;
  /**
   * The longest message that is read, and how much unsent output stops
   * reading, in bytes, at least 1.
   *
   * @default {67_108_864}
   */
  maxMessageBytes?: number | undefined;
  /**
   * Whether to answer an unknown version with the newest one known, and to
   * refuse requests before any `initialize`.
   *
   * @default {false}
   */
  strict?: boolean | undefined;
  /**
   * The lowest level of log lines that go to stderr.
   *
   * @default {"INFO"}
   */
  logLevel?: LogLevel | undefined;
}

/**
 * Serve the registered tools until the input ends.
 *
 * Messages are taken one at a time, in order. While serving, `console` writes
 * to stderr and an unhandled rejection is logged and survived; with the default
 * `readable`, SIGINT and SIGTERM end the session. Both streams are closed at
 * the end.
 *
 * @param options Streams, identity, limits.
 * @returns The exit code: 0 after the end of input, a signal, or a reader of
 * the output that went away; 1 after a framing error or a stream that failed; 2
 * if a tool's schema is malformed, then nothing was served.
 * @throws {RangeError} If `maxMessageBytes` is not a whole number of at least 1,
 * or if there is no such `logLevel`.
 * @throws {TypeError} If a stream is locked, or if `serverInfo` lacks a name or
 * a version.
 *
 * @example A server over any two streams
 * ```ts
 * import { serve } from "@miniagent/mcp";
 * import { assertEquals } from "@std/assert";
 * import { toText } from "@std/streams";
 *
 * const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
 * const input = new Blob(['{"jsonrpc":"2.0","id":0,"method":"ping"}\n']);
 * const served = serve({ readable: input.stream(), writable, logLevel: "ERROR" });
 *
 * assertEquals(await toText(readable), '{"jsonrpc":"2.0","id":0,"result":{}}\n');
 * assertEquals(await served, 0);
 * ```
 */
export async function serve(options: ServeOptions = {}): Promise<number> {
  const log = new Logger("miniagent.server", {
    level: options.logLevel ?? "INFO",
  });
  const { serverInfo, instructions, strict } = options;
  if (serverInfo !== undefined) checkServerInfo(serverInfo);
  if (!await checkTools(log)) {
    await flushStderr(FLUSH_MS);
    return 2;
  }
  const session = { serverInfo, instructions, strict, log };
  const connection = new Connection(session, log, options);
  const undo = [keepStdoutClean(), surviveRejections(log)];
  if (options.readable === undefined) undo.push(endOnSignals(connection));
  try {
    return await connection.run();
  } finally {
    for (const restore of undo) restore();
    await flushStderr(FLUSH_MS);
  }
}

/** MCP, schema `Implementation`: clients refuse a handshake without either. */
function checkServerInfo({ name, version }: Implementation): void {
  if (typeof name === "string" && typeof version === "string") return;
  throw new TypeError(
    `Cannot serve: serverInfo has name ${describe(name)} and version ` +
      `${describe(version)}, expected two strings`,
  );
}

/** How long one who does not read may keep us at the end, in milliseconds. */
const FLUSH_MS = 500;

async function checkTools(log: Logger): Promise<boolean> {
  let sound = true;
  for (const tool of registeredTools.values()) {
    for (const key of ["inputSchema", "outputSchema"] as const) {
      if (key === "outputSchema" && tool[key] === undefined) continue;
      const faults = await findSchemaFaults(tool[key]);
      if (faults === undefined) continue;
      sound = false;
      log.error(
        `Cannot serve tool "${tool.name}": ${key} is malformed: ${faults}`,
      );
    }
  }
  return sound;
}

/** How long what is under way may take once the session is ending, in milliseconds: less than a client waits before it kills. */
const GRACE_MS = 4000;

/** Two streams with a session between them. */
class Connection {
  readonly #session: Session;
  readonly #log: Logger;
  readonly #reader: MessageReader;
  readonly #writer: MessageWriter;
  readonly #maxBytes: number;
  readonly #givenUp = Promise.withResolvers<void>();
  #grace: ReturnType<typeof setTimeout> | undefined;
  #signal: Deno.Signal | undefined;
  #gaveUpAt = Infinity;
  #readerGone = false;
  #writeFailure: unknown;

  constructor(session: Session, log: Logger, options: ServeOptions) {
    this.#session = session;
    this.#log = log;
    this.#maxBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#reader = new MessageReader(
      options.readable ?? Deno.stdin.readable,
      { maxMessageBytes: this.#maxBytes },
    );
    this.#writer = new MessageWriter(
      options.writable ?? Deno.stdout.writable,
    );
  }

  /** Serve until the end; gives the exit code. */
  async run(): Promise<number> {
    this.#writer.failed.then((reason) => this.#loseReader(reason));
    let code = await this.#serveMessages();
    for (const answer of endSubscriptions(this.#session)) this.#send(answer);
    await this.#writer.drained(0);
    clearTimeout(this.#grace);
    if (this.#readerGone && isFailure(this.#writeFailure)) {
      this.#log.error(`Cannot write answers: ${messageOf(this.#writeFailure)}`);
      code = 1;
    } else if (this.#readerGone) {
      this.#log.warning("The reader of stdout went away, shutting down");
    } else if (this.#writer.unsentBytes > 0) {
      this.#log.warning(
        `Gave up ${this.#writer.unsentBytes} bytes of answers that nobody read`,
      );
    } else {
      await this.#writer.close();
    }
    await this.#reader.cancel();
    return code;
  }

  /** Take no more input: finish what is being answered, within the grace. */
  end(signal: Deno.Signal): void {
    if (this.#signal !== undefined) return;
    this.#signal = signal;
    if (this.#gaveUpAt < Infinity) this.#giveUp();
    else this.#startGrace();
    this.#reader.cancel();
  }

  async #serveMessages(): Promise<number> {
    for (;;) {
      try {
        const message = this.#reader.takeBuffered();
        if (message === null) return this.#reportEnd();
        if (message === undefined) {
          this.#writer.flush();
          await this.#reader.fill();
          continue;
        }
        const answer = dispatch(message, this.#session);
        this.#send(
          answer instanceof Promise
            ? await this.#settle(answer, message)
            : answer,
        );
      } catch (error) {
        if (error instanceof ProtocolError) {
          this.#send(errorResponse(null, error));
        } else if (error instanceof TransportError) {
          const { message } = error;
          // A stream that failed said nothing that could be answered.
          if (error instanceof FramingError) {
            this.#send(
              errorResponse(null, { code: ErrorCode.ParseError, message }),
            );
          }
          this.#log.error(message);
          return 1;
        } else {
          throw error; // not reached: a fault of ours
        }
      }
      if (this.#writer.unsentBytes > this.#maxBytes) {
        await this.#writer.drained(this.#maxBytes);
      }
    }
  }

  #reportEnd(): number {
    if (this.#signal !== undefined) {
      this.#log.info(`${this.#signal} received, shutting down`);
    } else if (!this.#readerGone) {
      this.#log.info("EOF on stdin, shutting down");
    }
    return 0;
  }

  /** Wait for an async tool, reading on meanwhile: only so is the end of input seen. */
  async #settle(answer: Promise<Answer>, message: object): Promise<Answer> {
    this.#writer.flush();
    let settled = false;
    const done = answer.then((answer) => {
      settled = true;
      return answer;
    });
    const reader = this.#reader;
    while (
      !settled && !reader.ended && reader.bufferedBytes < this.#maxBytes
    ) {
      await Promise.race([done, reader.fill()]);
    }
    if (settled) return done;
    if (reader.ended) this.#startGrace();
    await Promise.race([done, this.#givenUp.promise]);
    if (!settled && performance.now() - this.#gaveUpAt < GRACE_MS) {
      // What is called when the grace is over still gets a turn of the event loop.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (settled) return done;
    if (!this.#readerGone) {
      this.#log.warning(
        `Gave up a tool that had not settled ${GRACE_MS} ms after the end`,
      );
    }
    return givenUpAnswer(message);
  }

  #send(answer: Answer): void {
    if (answer === undefined) return;
    const writer = this.#writer;
    // Absent only where the stream failed before its first byte.
    writer.framing = this.#reader.framing ?? writer.framing;
    try {
      writer.append(answer);
    } catch (error) {
      // A tool may say of itself what JSON cannot hold; a batch may be too long for one text.
      this.#log.error("Cannot write an answer", error);
      const ids = [answer].flat().flatMap((entry) =>
        "id" in entry ? [entry.id] : []
      );
      const failure = internalErrors(ids, answer);
      if (failure !== undefined) writer.append(failure);
    }
  }

  #loseReader(reason: unknown): void {
    this.#readerGone = true;
    this.#writeFailure = reason;
    this.#giveUp();
    this.#reader.cancel();
  }

  #startGrace(): void {
    this.#grace ??= setTimeout(() => this.#giveUp(), GRACE_MS);
  }

  /** Answers without a reader hold us until a signal comes, and then no longer than it takes to write one. */
  #giveUp(): void {
    this.#gaveUpAt = Math.min(this.#gaveUpAt, performance.now());
    this.#givenUp.resolve();
    const abandon = (): void => this.#writer.abandon();
    if (this.#readerGone) abandon();
    else if (this.#signal !== undefined) {
      this.#grace = setTimeout(abandon, FLUSH_MS);
    }
  }
}

/** A reader that went away is none; nor does another stream than Deno's say why it failed. */
function isFailure(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason &&
    !(reason instanceof Deno.errors.BrokenPipe);
}

/** A request that is given up still gets its one answer. */
function givenUpAnswer(message: object): Answer {
  const ids = [message].flat().flatMap((entry) => {
    const classified = classifyMessage(entry);
    if (classified.kind === "request") return [classified.message.id];
    return classified.kind === "invalid" ? [classified.id] : [];
  });
  return internalErrors(ids, message);
}

function internalErrors(ids: (RequestId | null)[], like: object): Answer {
  const answers = ids.map((id) => errorResponse(id, INTERNAL_ERROR));
  return Array.isArray(like) ? answers : answers[0];
}

/** A promise that a tool forgot must not end the server. */
function surviveRejections(log: Logger): () => void {
  const onRejection = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    log.error("Unhandled rejection", event.reason);
  };
  const onError = (event: ErrorEvent): void => {
    event.preventDefault();
    log.error("Uncaught error", event.error);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  return () => {
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
  };
}

function endOnSignals(connection: Connection): () => void {
  const undo: (() => void)[] = [];
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const listener = (): void => connection.end(signal);
    try {
      Deno.addSignalListener(signal, listener);
    } catch (error) {
      // Windows has not every signal; the end of input is enough there.
      if (!(error instanceof TypeError)) throw error;
      continue;
    }
    undo.push(() => Deno.removeSignalListener(signal, listener));
  }
  return () => undo.forEach((restore) => restore());
}

const USAGE = `Serve English-grammar tools over MCP on stdin and stdout.

Usage: deno run server.ts [options]

Both framings are understood: a line of JSON a message (every MCP client), or
Content-Length headers. The first byte decides. No permission is needed.

Options:
  --log-level LEVEL        lowest level logged to stderr: ${
  LOG_LEVELS.join(", ")
}
                           (default INFO)
  --max-message-bytes N    longest message read (default ${DEFAULT_MAX_MESSAGE_BYTES})
  --strict                 refuse requests before initialize, and unknown
                           protocol versions
  --help, -h               print this and exit
  --version                print the version and exit

Exit codes: 0 end of input, signal or gone reader; 1 framing error or a failed
stream; 2 usage or a malformed tool schema.
`;

async function main(args: readonly string[]): Promise<number> {
  keepStdoutClean();
  let flags: ReadonlyMap<string, unknown>;
  try {
    flags = parseServerFlags(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error; // not reached: ours
    writeStderr(`${printable(error.message)}\n\n${USAGE}`);
    await flushStderr(FLUSH_MS);
    return 2;
  }
  if (flags.has("help") || flags.has("version")) {
    const text = flags.has("help") ? USAGE : `miniagent-server ${VERSION}\n`;
    try {
      await new Blob([text]).stream().pipeTo(Deno.stdout.writable);
    } catch (error) {
      // A reader that went away has seen enough.
      if (!isFailure(error)) return 0;
      writeStderr(`Cannot write to stdout: ${messageOf(error)}\n`);
      await flushStderr(FLUSH_MS);
      return 1;
    }
    return 0;
  }
  await import("./tools/mod.ts");
  return await serve({
    strict: flags.has("strict"),
    logLevel: flags.get("log-level") as LogLevel | undefined,
    maxMessageBytes: flags.get("max-message-bytes") as number | undefined,
  });
}

function parseServerFlags(
  args: readonly string[],
): ReadonlyMap<string, unknown> {
  const { flags, words, rest } = parseFlags(
    args,
    new Map([
      ["log-level", { parse: oneOf(LOG_LEVELS) }],
      ["max-message-bytes", { parse: positiveInteger }],
      ["strict", {}],
      ["help", {}],
      ["version", {}],
    ]),
  );
  const extra = [...words, ...rest ?? []][0];
  if (extra !== undefined) {
    throw new UsageError(`Unknown argument ${JSON.stringify(extra)}`);
  }
  return flags;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
