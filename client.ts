/**
 * The client: {@linkcode MCPClient} starts an MCP server, lists its tools and
 * calls them. The file itself is a program that does so from the command line.
 *
 * ```sh
 * deno run --allow-run=deno client.ts list
 * ```
 *
 * The process and its messages are left to `runtime/`, the shapes of results to
 * `protocol/_results.ts`.
 *
 * @module
 */

import { describe, ErrorCode, isObject } from "./protocol/jsonrpc.ts";
import {
  InvalidArgumentsError,
  ProtocolError,
  ToolError,
  TransportError,
} from "./protocol/errors.ts";
import {
  newestHandshake,
  oldestRevision,
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
  type Revision,
  revisions,
  statelessVersions,
} from "./protocol/revisions.ts";
import { compileSchema, formatFailures } from "./protocol/_schema.ts";
import { MetaKey } from "./protocol/_meta.ts";
import {
  type CallToolResult,
  type ContentBlock,
  type InitializeResult,
  type ListedTool,
  supportsStateless,
  toCallToolResult,
  toObject,
  toToolPage,
  unwrap,
  withTools,
} from "./protocol/_results.ts";
import type { Framing } from "./framing.ts";
import {
  type Direction,
  ServerConnection,
} from "./runtime/server_connection.ts";
import { flushStderr, Logger, type LogLevel } from "./runtime/log.ts";
import { UsageError, VERSION } from "./runtime/flags.ts";
import { runCommandLine } from "./runtime/terminal.ts";
import { Turns } from "./runtime/turns.ts";

export { InvalidArgumentsError, ProtocolError, ToolError, TransportError };
export { FramingError } from "./protocol/errors.ts";
export type {
  CallToolResult,
  ContentBlock,
  Direction,
  InitializeResult,
  ListedTool,
  ProtocolVersion,
};

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
 * A client of one MCP server, which it starts as a child process.
 *
 * One request is in flight at a time; concurrent calls wait their turn. Leaving
 * the block of an `await using`, or {@linkcode MCPClient.close}, ends the
 * process.
 *
 * @example Call a tool
 * ```ts
 * import { MCPClient } from "@miniagent/mcp/client";
 * import { assertEquals } from "@std/assert";
 *
 * await using client = new MCPClient(["deno", "run", "server.ts"], {
 *   onStderr: () => {},
 * });
 * await client.initialize();
 * const tools = await client.listTools();
 * assertEquals(tools.length, 4);
 * const form = await client.callTool("conjugate", {
 *   verb: "eat",
 *   tense: "past_simple",
 *   person: "3sg",
 * });
 * assertEquals(form, "ate");
 * ```
 */
export class MCPClient implements AsyncDisposable {
  readonly #command: readonly string[];
  readonly #options: MCPClientOptions;
  readonly #log: Logger;
  readonly #schemas = new Map<string, Record<string, unknown>>();
  readonly #turns = new Turns();
  #connection: ServerConnection;
  #revision: Revision;
  #nextId = 0;
  #listed = false;
  #closing: Promise<void> | undefined;

  /**
   * Start the server.
   *
   * @param command The program and its arguments, with no shell in between.
   * @param options Framing, revision, limits, hooks.
   * @throws {TransportError} If the program cannot be started.
   * @throws {TypeError} If the command is empty.
   * @throws {RangeError} If an option is out of its range.
   */
  constructor(command: readonly string[], options: MCPClientOptions = {}) {
    const { protocolVersion = oldestRevision.protocolVersion } = options;
    checkOptions(options, protocolVersion);
    this.#command = command;
    this.#options = options;
    this.#log = new Logger("miniagent.client", {
      level: options.logLevel ?? "INFO",
    });
    this.#revision = revisions.get(protocolVersion) ?? newestHandshake;
    this.#connection = this.#connect();
  }

  /**
   * Open the session. Call it first, once.
   *
   * @returns What the server says of itself.
   * @throws {ProtocolError} If the server refuses, answers with a revision that
   * this client does not speak, or offers no tools.
   * @throws {TransportError} If the server is gone or does not answer in time.
   */
  async initialize(): Promise<InitializeResult> {
    if (this.#options.protocolVersion === "auto") {
      const result = await this.#probe();
      if (result !== undefined) return result;
    }
    return this.#revision.opening === "request"
      ? this.#openStateless()
      : this.#shakeHands();
  }

  /**
   * List the server's tools, all pages of them, and keep their schemas.
   *
   * @returns The tools as the server sent them.
   * @throws {ProtocolError} If the server refuses, answers in another shape, or
   * never ends its list.
   * @throws {TransportError} If the server is gone or does not answer in time.
   */
  async listTools(): Promise<ListedTool[]> {
    const tools: ListedTool[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = toToolPage(await this.#request("tools/list", params));
      tools.push(...page.tools);
      cursor = page.nextCursor;
      if (
        cursor !== undefined && (seen.has(cursor) || seen.size >= MAX_PAGES)
      ) {
        throw new ProtocolError(
          `Cannot list tools: cursor ${describe(cursor)} came after ` +
            `${seen.size + 1} pages, expected the list to end`,
          { code: ErrorCode.InvalidRequest },
        );
      }
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    this.#schemas.clear();
    for (const tool of tools) this.#schemas.set(tool.name, tool.inputSchema);
    this.#listed = true;
    return tools;
  }

  /**
   * Call a tool and take the value out of its result: `structuredContent` if
   * there is any; of one text its JSON value, or the bare text where it is not
   * JSON; else the `content` array.
   *
   * @param name The tool's name. One that was not listed is sent all the same.
   * @param args The arguments.
   * @param options The time limit and a signal.
   * @returns The value.
   * @throws {ToolError} If the tool said no: mend the arguments, call again.
   * @throws {InvalidArgumentsError} If the arguments fail the tool's schema.
   * Nothing was sent.
   * @throws {ProtocolError} If the server refuses or breaks the protocol, or if
   * the tool's schema cannot be used.
   * @throws {TransportError} If the server is gone or does not answer in time.
   * @throws {TypeError} If `listTools` was not called before. Nothing was sent.
   */
  async callTool(
    name: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<unknown> {
    return unwrap(await this.callToolRaw(name, args, options));
  }

  /**
   * Call a tool.
   *
   * @param name As for {@linkcode MCPClient.callTool}.
   * @param args The arguments.
   * @param options The time limit and a signal.
   * @returns The whole result, also where the tool said no.
   * @throws {InvalidArgumentsError} As {@linkcode MCPClient.callTool}.
   * @throws {ProtocolError} As {@linkcode MCPClient.callTool}.
   * @throws {TransportError} As {@linkcode MCPClient.callTool}.
   * @throws {TypeError} As {@linkcode MCPClient.callTool}.
   */
  async callToolRaw(
    name: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    if (!this.#listed) {
      throw new TypeError(
        `Cannot call tool ${describe(name)}: call listTools() first`,
      );
    }
    this.#checkArguments(name, args);
    const params = { name, arguments: args };
    return toCallToolResult(await this.#request("tools/call", params, options));
  }

  /**
   * End the server: close its stdin, wait, then SIGTERM, then SIGKILL. A second
   * call gives the same promise, which never rejects.
   *
   * @returns When no process, timer or pipe of this client is left.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** Does {@linkcode MCPClient.close}: for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#connection.close();
    await flushStderr(FLUSH_MS);
  }

  #connect(): ServerConnection {
    return new ServerConnection(this.#command, {
      ...this.#options,
      framing: this.#options.framing ?? "content-length",
      closeTimeoutMs: this.#options.closeTimeoutMs ?? 5000,
      log: this.#log,
    });
  }

  /** MCP 2025-11-25, basic/lifecycle, "Initialization". */
  async #shakeHands(): Promise<InitializeResult> {
    const result = toObject(
      "initialize",
      await this.#request("initialize", {
        protocolVersion: this.#revision.protocolVersion,
        capabilities: {},
        clientInfo: CLIENT_INFO,
      }),
    );
    const version = result["protocolVersion"];
    const revision = typeof version === "string"
      ? revisions.get(version)
      : undefined;
    if (revision?.opening !== "handshake") {
      throw new ProtocolError(
        `Cannot initialize: protocolVersion is ${describe(version)}, ` +
          `expected one of ${PROTOCOL_VERSIONS.join(", ")}`,
        { code: ErrorCode.InvalidRequest },
      );
    }
    const opened = withTools("initialize", result);
    this.#revision = revision;
    this.#connection.notify("notifications/initialized");
    return opened;
  }

  /** MCP 2026-07-28, server/discover. */
  async #openStateless(): Promise<InitializeResult> {
    this.#connection.answersRequests = false;
    const result = toObject(
      "server/discover",
      await this.#request("server/discover", {}),
    );
    if (!supportsStateless(result)) {
      throw new ProtocolError(
        `Cannot open: supportedVersions lacks ${statelessVersions.join(", ")}`,
        { code: ErrorCode.UnsupportedProtocolVersion },
      );
    }
    return withTools("server/discover", result);
  }

  /**
   * Find out whether the server is stateless (MCP 2026-07-28, transports/stdio,
   * "Backward Compatibility"): any answer but a fitting one, silence and an
   * exit all mean that it wants the handshake.
   */
  async #probe(): Promise<InitializeResult | undefined> {
    const stateless = revisions.get(statelessVersions[0] ?? "");
    try {
      const result = await this.#request(
        "server/discover",
        {},
        { timeoutMs: PROBE_TIMEOUT_MS },
        stateless,
      );
      if (isObject(result) && supportsStateless(result) && stateless) {
        this.#revision = stateless;
        this.#connection.answersRequests = false;
        return withTools("server/discover", result);
      }
    } catch (error) {
      if (
        !(error instanceof ProtocolError || error instanceof TransportError)
      ) {
        throw error;
      }
      this.#log.debug(`The probe failed: ${error.message}`);
    }
    if (this.#connection.lost && this.#closing === undefined) {
      await this.#connection.close();
      this.#connection = this.#connect();
    }
    return undefined;
  }

  /** Wait for our turn, send, wait for the answer. */
  async #request(
    method: string,
    params: Record<string, unknown>,
    options: CallOptions = {},
    revision: Revision = this.#revision,
  ): Promise<unknown> {
    await this.#turns.take(options.signal);
    try {
      if (this.#closing !== undefined) {
        throw new TransportError(`Cannot send "${method}": client is closed`);
      }
      const { requestTimeoutMs = 60_000 } = this.#options;
      return await this.#connection.request(
        {
          jsonrpc: "2.0",
          id: this.#nextId++,
          method,
          params: revision.opening === "request"
            ? { ...params, _meta: statelessMeta(revision) }
            : params,
        },
        {
          timeoutMs: options.timeoutMs ?? requestTimeoutMs,
          signal: options.signal,
          // "The `initialize` request MUST NOT be cancelled by clients" (MCP
          // 2025-11-25, basic/utilities/cancellation); an old server would not
          // know what to make of a cancelled probe.
          cancellable: method === "tools/list" || method === "tools/call",
        },
      );
    } finally {
      this.#turns.pass();
    }
  }

  #checkArguments(name: string, args: Record<string, unknown>): void {
    const schema = this.#schemas.get(name);
    if (schema === undefined) return;
    let failures;
    try {
      failures = compileSchema(schema, this.#revision.dialect)(args);
    } catch (error) {
      throw new ProtocolError(
        `Cannot call tool ${describe(name)}: its inputSchema cannot be used: ` +
          (error instanceof Error ? error.message : String(error)),
        { code: ErrorCode.InternalError, cause: error },
      );
    }
    if (failures.length > 0) {
      throw new InvalidArgumentsError(
        `Cannot call tool ${describe(name)}: ${formatFailures(failures)}`,
      );
    }
  }
}

const CLIENT_INFO = { name: "miniagent-client", version: VERSION };
const PROBE_TIMEOUT_MS = 2000;
const FLUSH_MS = 500;
/** More pages than any list has: a server that never ends its list must not keep us. */
const MAX_PAGES = 1000;

function checkOptions(options: MCPClientOptions, version: string): void {
  if (version !== "auto" && !revisions.has(version)) {
    throw new RangeError(
      `Cannot start client: protocolVersion is ${describe(version)}, ` +
        `expected "auto" or one of ${PROTOCOL_VERSIONS.join(", ")}`,
    );
  }
  for (const key of ["requestTimeoutMs", "closeTimeoutMs"] as const) {
    const value = options[key];
    if (value !== undefined && !(value >= 1 && value <= MAX_TIMEOUT_MS)) {
      throw new RangeError(
        `Cannot start client: ${key} is ${value}, ` +
          `expected 1 to ${MAX_TIMEOUT_MS} milliseconds`,
      );
    }
  }
}

/** A longer timer fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

function statelessMeta(revision: Revision): Record<string, unknown> {
  return {
    [MetaKey.protocolVersion]: revision.protocolVersion,
    [MetaKey.clientInfo]: CLIENT_INFO,
    [MetaKey.clientCapabilities]: {},
  };
}

/** By name, so that `--allow-run=deno` is enough wherever Deno lies. */
function serverBeside(): string[] {
  if (Deno.build.standalone) {
    throw new UsageError("A server is missing: expected -- COMMAND…");
  }
  return ["deno", "run", "--no-prompt", import.meta.resolve("./server.ts")];
}

if (import.meta.main) {
  const code = await runCommandLine(
    Deno.args,
    (command, options) => new MCPClient(command ?? serverBeside(), options),
  );
  Deno.exit(code);
}
