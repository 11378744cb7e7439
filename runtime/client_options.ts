/**
 * What a client can be told, and whether that makes sense. Checked before
 * anything is started, so that a refusal leaves nothing behind.
 *
 * @module
 */

import { describe } from "../protocol/jsonrpc.ts";
import { FRAMINGS } from "../protocol/_framers.ts";
import {
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
} from "../protocol/revisions.ts";
import type { Framing } from "../framing.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";
import type { Direction } from "./server_connection.ts";

/** Options for an {@linkcode MCPClient}. */
export interface MCPClientOptions {
  /**
   * The framing that the server speaks. A client speaks first, so it cannot
   * detect it.
   *
   * @default {"content-length"}
   */
  framing?: Framing | undefined;
  /**
   * The revision to speak. `"auto"` asks the server with `server/discover`, and
   * falls back to the handshake with the newest revision that has one.
   *
   * @default {"2024-11-05"}
   */
  protocolVersion?: ProtocolVersion | "auto" | undefined;
  /**
   * How long the server may take for one answer, in milliseconds, at least 1.
   *
   * @default {60_000}
   */
  requestTimeoutMs?: number | undefined;
  /**
   * How long the server may take to exit once its stdin is closed, in
   * milliseconds, at least 1. Then it gets SIGTERM, and a second later SIGKILL.
   *
   * @default {5_000}
   */
  closeTimeoutMs?: number | undefined;
  /**
   * The longest message that is read, in bytes, at least 1.
   *
   * @default {67_108_864}
   */
  maxMessageBytes?: number | undefined;
  /** The server's working directory; if absent, ours. */
  cwd?: string | undefined;
  /** Variables added to the server's environment. */
  env?: Record<string, string> | undefined;
  /**
   * Whether to keep our own environment from the server.
   *
   * @default {false}
   */
  clearEnv?: boolean | undefined;
  /**
   * Sees every message in the order of the wire: `">"` to the server, `"<"`
   * from it.
   */
  onMessage?: ((direction: Direction, message: object) => void) | undefined;
  /**
   * Hears each line that the server writes to its stderr; if absent, the line
   * goes to our stderr behind `[server] `.
   */
  onStderr?: ((line: string) => void) | undefined;
  /**
   * The lowest level of the client's own log lines, which go to stderr.
   *
   * @default {"INFO"}
   */
  logLevel?: LogLevel | undefined;
}

/** Options for one call. */
export interface CallOptions {
  /** How long the server may take, in milliseconds, instead of `requestTimeoutMs`. */
  timeoutMs?: number | undefined;
  /** Ends the call when it aborts: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Check what a client was told.
 *
 * @param options The options.
 * @throws {RangeError} If one is out of its range.
 */
export function checkClientOptions(options: MCPClientOptions): void {
  const { protocolVersion, framing, maxMessageBytes } = options;
  checkChoice("protocolVersion", protocolVersion, [
    ...PROTOCOL_VERSIONS,
    "auto",
  ]);
  checkChoice("framing", framing, FRAMINGS);
  checkChoice("logLevel", options.logLevel, LOG_LEVELS);
  checkTimeout("requestTimeoutMs", options.requestTimeoutMs);
  checkTimeout("closeTimeoutMs", options.closeTimeoutMs);
  if (
    maxMessageBytes !== undefined &&
    !(Number.isSafeInteger(maxMessageBytes) && maxMessageBytes >= 1)
  ) {
    const expected = "a whole number of bytes, at least 1";
    throw outOfRange("maxMessageBytes", maxMessageBytes, expected);
  }
}

/**
 * Check what one call was told.
 *
 * @param options The options.
 * @throws {RangeError} If one is out of its range.
 */
export function checkCallOptions(options: CallOptions): void {
  checkTimeout("timeoutMs", options.timeoutMs);
}

/** A longer timer fires at once. */
export const MAX_TIMEOUT_MS: number = 2 ** 31 - 1;

function checkTimeout(name: string, value: number | undefined): void {
  if (value === undefined) return;
  const isNumber = typeof value === "number"; // unchecked where a user runs without types
  if (isNumber && value >= 1 && value <= MAX_TIMEOUT_MS) return;
  throw outOfRange(name, value, `1 to ${MAX_TIMEOUT_MS} milliseconds`);
}

function checkChoice(
  name: string,
  value: string | undefined,
  choices: readonly string[],
): void {
  if (value === undefined || choices.includes(value)) return;
  throw outOfRange(name, value, `one of ${choices.join(", ")}`);
}

function outOfRange(
  name: string,
  value: unknown,
  expected: string,
): RangeError {
  return new RangeError(
    `Cannot use option ${name}: value is ${
      describe(value)
    }, expected ${expected}`,
  );
}
