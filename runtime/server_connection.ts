/**
 * One server process as a JSON-RPC peer: a request goes out, its answer comes
 * back, whatever else the server writes in between, or why none will.
 *
 * What is asked is left to `client.ts`; the process, to `child_process.ts`.
 *
 * @module
 */

import {
  classifyMessage,
  describe,
  ErrorCode,
  errorResponse,
  isObject,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
  resultResponse,
} from "../protocol/jsonrpc.ts";
import {
  messageOf,
  ProtocolError,
  TransportError,
} from "../protocol/errors.ts";
import { framers, TooLongError } from "../protocol/_framers.ts";
import { type Framing, MessageReader, MessageWriter } from "../framing.ts";
import { Alarm } from "./alarm.ts";
import { Breather } from "./breather.ts";
import {
  describeExit,
  type ServerExit,
  ServerProcess,
  type ServerProcessOptions,
  within,
} from "./child_process.ts";

/** Which way a message went: `">"` to the server, `"<"` from it. */
export type Direction = ">" | "<";

/** How to reach a server, and who sees the messages. */
export interface ServerConnectionOptions extends ServerProcessOptions {
  /** The framing that the server speaks. */
  framing: Framing;
  /** The longest message that is read, in bytes. */
  maxMessageBytes?: number | undefined;
  /** Sees every message, in the order of the wire. */
  onMessage?: ((direction: Direction, message: object) => void) | undefined;
}

/** How long to wait for one answer, and what ends the wait. */
export interface RequestOptions {
  /** How long, in milliseconds. */
  timeoutMs: number;
  /** Ends the wait when it aborts. */
  signal?: AbortSignal | undefined;
  /** Whether to tell the server when the wait ends early. */
  cancellable: boolean;
}

interface Waiting {
  id: RequestId;
  method: string;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  signal: AbortSignal | undefined;
  onAbort: () => void;
}

interface Loss {
  reason: string;
  /** How the process ended, if it has. */
  exit?: ServerExit | undefined;
  cause?: unknown;
}

/** A server process, and the one request that may be in flight to it. */
export class ServerConnection {
  /** Whether the server's own requests get answers: not in a stateless revision. */
  answersRequests = true;

  readonly #options: ServerConnectionOptions;
  readonly #process: ServerProcess;
  readonly #reader: MessageReader;
  readonly #writer: MessageWriter;
  readonly #pumped: Promise<void>;
  readonly #alarm = new Alarm();
  /** Requests whose answer nobody waits for any more. */
  readonly #abandoned = new Set<RequestId>();
  #waiting: Waiting | undefined;
  /** Whether any message came: if none does, the framing may be the wrong one. */
  #heard = false;
  /** Why no answer will come any more. */
  #lost: Loss | undefined;
  #losing: Promise<void> | undefined;
  /** What broke the stream of messages, be it before the exit was seen or after. */
  #fault: unknown;

  /**
   * @param command The program and its arguments.
   * @param options How to reach it.
   * @throws {TransportError} If it cannot be started.
   */
  constructor(command: readonly string[], options: ServerConnectionOptions) {
    const { framing, maxMessageBytes } = options;
    this.#options = options;
    this.#process = new ServerProcess(command, options);
    this.#reader = new MessageReader(this.#process.stdout, {
      framing,
      maxMessageBytes,
    });
    this.#writer = new MessageWriter(this.#process.stdin, { framing });
    this.#writer.failed.then(() => this.#lose("it no longer reads its stdin"));
    this.#pumped = this.#pump();
    this.#process.exited.then(() => this.#lose("it exited"));
  }

  /** Whether the server is gone, so that only a new connection can help. */
  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /**
   * Send a request and wait for its answer. No other may be in flight.
   *
   * @param request The request.
   * @param options How long to wait, and what ends the wait.
   * @returns The result.
   * @throws {ProtocolError} If the answer is an error, or breaks the protocol.
   * @throws {TransportError} If the server is gone, or the time is over.
   */
  request(
    request: JSONRPCRequest,
    options: RequestOptions,
  ): Promise<unknown> {
    const { id, method } = request;
    const { timeoutMs, signal } = options;
    if (this.#lost !== undefined) {
      return Promise.reject(this.#tell(method, this.#lost));
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const stop = (reason: string, error: unknown): void => {
      if (options.cancellable) {
        this.notify("notifications/cancelled", { requestId: id, reason });
      }
      this.#fail(error);
    };
    const onAbort = (): void => stop("aborted by the caller", signal?.reason);
    signal?.addEventListener("abort", onAbort);
    this.#alarm.set(timeoutMs, () => {
      const reason = `no answer came within ${timeoutMs} ms`;
      const hint = this.#heard
        ? ""
        : `, nor any message before: is its framing "${this.#options.framing}"?`;
      stop(reason, lostError(method, { reason: reason + hint }));
    });
    this.#waiting = { id, method, resolve, reject, signal, onAbort };
    try {
      this.#write(request);
    } catch (error) {
      this.#settle()?.reject(error);
    }
    return promise;
  }

  /**
   * Send a notification.
   *
   * @param method What happened.
   * @param params The details.
   */
  notify(method: string, params?: Record<string, unknown>): void {
    this.#write({
      jsonrpc: "2.0",
      method,
      ...(params === undefined ? {} : { params }),
    });
  }

  /** End the process and everything that hangs on it. */
  async close(): Promise<void> {
    this.#settleLost({ reason: "client is closed" });
    this.#alarm.stop();
    this.#writer.abandon();
    let closed: Promise<void> = Promise.resolve();
    await this.#process.close(() => closed = this.#writer.close());
    await this.#reader.cancel();
    await this.#pumped;
    // What the server did not read is lost with it, but for a grandchild that
    // holds the pipe: that is not waited for.
    await within(EXIT_TIMEOUT_MS, closed);
    await this.#lose("client is closed");
  }

  #write(message: object): void {
    this.#writer.append(message);
    this.#show(">", message);
    this.#writer.flush();
  }

  #show(direction: Direction, message: object): void {
    try {
      this.#options.onMessage?.(direction, message);
    } catch (error) {
      this.#options.log.error(`onMessage failed: ${messageOf(error)}`);
    }
  }

  async #pump(): Promise<void> {
    const breather = new Breather();
    for (;;) {
      // A server that asks and does not read our answers is not read either.
      if (this.#writer.unsentBytes > MAX_UNSENT_BYTES) {
        await this.#writer.drained(MAX_UNSENT_BYTES);
      }
      const breath = breather.breathe();
      if (breath !== undefined) await breath;
      try {
        const message = this.#reader.takeBuffered();
        if (message === null) break;
        if (message === undefined) {
          await this.#reader.fill();
          continue;
        }
        this.#heard = true;
        this.#show("<", message);
        for (const one of Array.isArray(message) ? message : [message]) {
          this.#take(one);
        }
      } catch (error) {
        if (error instanceof ProtocolError) {
          this.#skip(error);
          continue;
        }
        this.#fault = error;
        this.#lose(messageOf(error));
        // Nobody reads on: a server that still writes must not wait for us.
        return this.#reader.cancel();
      }
    }
    this.#lose("it closed its stdout");
  }

  /** Servers print to their stdout by mistake: what is no message is none of ours. */
  #skip(error: ProtocolError): void {
    const isNoise = framers[this.#options.framing].framesPrints &&
      !(error instanceof TooLongError);
    if (isNoise || this.#waiting === undefined) {
      this.#options.log.warning(
        `Skipped what the server wrote to its stdout: ${error.message}`,
      );
    } else {
      this.#fail(error);
    }
  }

  #take(value: unknown): void {
    const classified = classifyMessage(value);
    switch (classified.kind) {
      case "response":
        return this.#takeResponse(classified.message);
      case "request":
        return this.#answer(classified.message);
      case "notification":
        return;
      case "invalid":
        if (classified.id !== null && classified.id === this.#waiting?.id) {
          this.#settle()?.reject(
            broken(`the answer is wrong: ${classified.reason}`),
          );
        } else {
          this.#options.log.warning(
            `Skipped what is no message: ${classified.reason}`,
          );
        }
        return;
      default: // not reached
        return classified satisfies never;
    }
  }

  #answer({ id, method }: JSONRPCRequest): void {
    if (!this.answersRequests) {
      this.#options.log.warning(
        `Ignored the server's request ${
          describe(method)
        }: its revision has none`,
      );
      return;
    }
    this.#write(
      method === "ping" ? resultResponse(id, {}) : errorResponse(id, {
        code: ErrorCode.MethodNotFound,
        message: `Method not found: ${describe(method)}`,
      }),
    );
  }

  #takeResponse(response: JSONRPCResponse): void {
    const { id, result, error } = response;
    const waiting = this.#waiting;
    if (id !== null && this.#abandoned.delete(id)) return;
    if (waiting === undefined) {
      this.#options.log.warning(
        `Ignored an answer with id ${describe(id)}: no request is in flight`,
      );
      return;
    }
    if (id !== waiting.id) {
      // A server that could not read our id answers with none; only one
      // request is in flight, so the error is about that.
      const isAnonymous = (id ?? null) === null && Boolean(error);
      this.#fail(
        isAnonymous ? toProtocolError(error) : broken(
          `the answer's id is ${describe(id)}, expected ${
            describe(waiting.id)
          }`,
        ),
      );
    } else if (
      error === undefined || (error === null && result !== undefined)
    ) {
      // Some servers send both members, and `null` in the one that is not meant.
      this.#settle()?.resolve(result);
    } else {
      this.#settle()?.reject(
        (result ?? undefined) === undefined
          ? toProtocolError(error)
          : broken("the answer has both a result and an error"),
      );
    }
  }

  /** An answer may still come: it must not fail the request after this one. */
  #fail(error: unknown): void {
    if (this.#waiting === undefined) return; // a race: it was just answered
    this.#abandoned.add(this.#waiting.id);
    this.#settle()?.reject(error);
  }

  /** From here on nobody waits: what is left is to tell who did. */
  #settle(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#alarm.clear();
    waiting?.signal?.removeEventListener("abort", waiting.onAbort);
    return waiting;
  }

  /** A lost pipe most often means a lost process: its exit says more, and comes soon. */
  #lose(what: string): Promise<void> {
    return this.#losing ??= this.#explainLoss(what);
  }

  async #explainLoss(what: string): Promise<void> {
    const { exited, program, lastLines } = this.#process;
    const exit = await within(EXIT_TIMEOUT_MS, exited);
    // What the server wrote before it exited may still be in the pipe.
    if (exit !== undefined) await within(EXIT_TIMEOUT_MS, this.#pumped);
    const cause = this.#fault;
    const how = `server ${describeExit(program, exit, lastLines)}`;
    const reason = cause !== undefined
      ? `${messageOf(cause)}; ${how}`
      : exit === undefined
      ? `${how}; ${what}`
      : how;
    this.#settleLost({ reason, exit, cause });
  }

  #settleLost(loss: Loss): void {
    this.#lost ??= loss;
    if (this.#waiting === undefined) return;
    this.#fail(this.#tell(this.#waiting.method, this.#lost));
  }

  #tell(method: string, loss: Loss): TransportError {
    if (loss.exit !== undefined) this.#process.exitTold = true;
    return lostError(method, loss);
  }
}

const MAX_UNSENT_BYTES = 1024 * 1024;
const EXIT_TIMEOUT_MS = 500;

function lostError(method: string, { reason, cause }: Loss): TransportError {
  return new TransportError(
    `Cannot complete "${method}": ${reason}`,
    cause === undefined ? {} : { cause },
  );
}

function broken(reason: string): ProtocolError {
  return new ProtocolError(`The server broke the protocol: ${reason}`, {
    code: ErrorCode.InvalidRequest,
  });
}

function toProtocolError(error: unknown): ProtocolError {
  if (!isObject(error) || typeof error["message"] !== "string") {
    return broken(`the error is ${describe(error)}, expected code and message`);
  }
  const { code, message, data } = error;
  return new ProtocolError(message, {
    code: typeof code === "number" ? code : ErrorCode.InternalError,
    data,
  });
}
