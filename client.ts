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

import { describe, ErrorCode } from "./protocol/jsonrpc.ts";
import {
  InvalidArgumentsError,
  messageOf,
  ProtocolError,
  ToolError,
  TransportError,
} from "./protocol/errors.ts";
import {
  newestHandshake,
  newestStateless,
  oldestRevision,
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
  type Revision,
  revisions,
  statelessVersions,
} from "./protocol/revisions.ts";
import { findFaults } from "./protocol/_schema_gate.ts";
import { MetaKey, VERSION } from "./protocol/_meta.ts";
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
import {
  type CallOptions,
  checkCallOptions,
  checkClientOptions,
  type MCPClientOptions,
} from "./runtime/client_options.ts";
import {
  type Direction,
  ServerConnection,
} from "./runtime/server_connection.ts";
import { flushStderr, Logger } from "./runtime/log.ts";
import { UsageError } from "./runtime/flags.ts";
import { runCommandLine } from "./runtime/terminal.ts";
import { Turns } from "./runtime/turns.ts";

export { InvalidArgumentsError, ProtocolError, ToolError, TransportError };
export { FramingError } from "./protocol/errors.ts";
export type {
  CallOptions,
  CallToolResult,
  ContentBlock,
  Direction,
  InitializeResult,
  ListedTool,
  MCPClientOptions,
  ProtocolVersion,
};

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
 * assertEquals(tools[0]?.name, "conjugate");
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
   * @throws {TypeError} If the command is no array, or empty.
   * @throws {RangeError} If an option is out of its range.
   */
  constructor(command: readonly string[], options: MCPClientOptions = {}) {
    if (!Array.isArray(command)) {
      throw new TypeError(
        `Cannot start a server: command is ${describe(command)}, ` +
          "expected an array of the program and its arguments",
      );
    }
    const { protocolVersion = oldestRevision.protocolVersion } = options;
    checkClientOptions(options);
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
  initialize(): Promise<InitializeResult> {
    if (this.#options.protocolVersion === "auto") return this.#openEither();
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
    let characters = 0;
    let cursor: string | undefined;
    for (;;) {
      const params = cursor === undefined ? {} : { cursor };
      const page = toToolPage(await this.#request("tools/list", params));
      for (const tool of page.tools) tools.push(tool);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
      characters += JSON.stringify(page.tools).length;
      if (
        seen.has(cursor) || seen.size >= MAX_PAGES ||
        characters > MAX_LIST_CHARACTERS
      ) {
        throw new ProtocolError(
          `Cannot list tools: cursor ${describe(cursor)} came after ` +
            `${seen.size + 1} pages of ${characters} characters in all, ` +
            "expected the list to end",
          { code: ErrorCode.InvalidRequest },
        );
      }
      seen.add(cursor);
    }
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
   * After the latter the session goes on: the call is cancelled, another may
   * follow.
   * @throws {TypeError} If `listTools` was not called before. Nothing was sent.
   * @throws {RangeError} If `timeoutMs` is out of its range. Nothing was sent.
   */
  callTool(
    name: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<unknown> {
    return this.callToolRaw(name, args, options).then(unwrap);
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
   * @throws {RangeError} As {@linkcode MCPClient.callTool}.
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
    checkCallOptions(options);
    // While it waits its turn, a call keeps as little as it can.
    const turn = this.#turns.take(options.signal);
    if (turn !== undefined) await turn;
    try {
      // What need not be waited for is not: each wait costs more than the work.
      const checked = this.#checkArguments(name, args);
      if (checked !== undefined) await checked;
      const params = { name, arguments: args };
      return toCallToolResult(await this.#send("tools/call", params, options));
    } finally {
      this.#turns.pass();
    }
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
      const expected = PROTOCOL_VERSIONS.filter((known) =>
        !statelessVersions.includes(known)
      );
      throw new ProtocolError(
        `Cannot initialize: protocolVersion is ${describe(version)}, ` +
          `expected one of ${expected.join(", ")}`,
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
  async #openEither(): Promise<InitializeResult> {
    const probed = this.#connection;
    const result = await this.#probe();
    if (result !== undefined) return withTools("server/discover", result);
    await this.#reconnectIfLost();
    try {
      return await this.#shakeHands();
    } catch (error) {
      // Some servers answer the probe before they exit on it.
      if (!probed.lost || this.#connection !== probed) throw error;
    }
    await this.#reconnectIfLost();
    return this.#shakeHands();
  }

  async #probe(): Promise<Record<string, unknown> | undefined> {
    const revision = newestStateless;
    const { requestTimeoutMs = PROBE_TIMEOUT_MS } = this.#options;
    const timeoutMs = Math.min(PROBE_TIMEOUT_MS, requestTimeoutMs);
    try {
      const result = toObject(
        "server/discover",
        await this.#request("server/discover", {}, { timeoutMs }, revision),
      );
      if (!supportsStateless(result)) return undefined;
      this.#revision = revision;
      this.#connection.answersRequests = false;
      return result;
    } catch (error) {
      if (
        !(error instanceof ProtocolError || error instanceof TransportError)
      ) {
        throw error; // not reached: a fault of ours
      }
      this.#log.debug(`The probe failed: ${error.message}`);
      return undefined;
    }
  }

  async #reconnectIfLost(): Promise<void> {
    if (!this.#connection.lost) return;
    await this.#connection.close();
    if (this.#closing === undefined) this.#connection = this.#connect();
  }

  /** Wait for our turn, send, wait for the answer. */
  async #request(
    method: string,
    params: Record<string, unknown>,
    options?: CallOptions,
    revision?: Revision,
  ): Promise<unknown> {
    const turn = this.#turns.take(undefined);
    if (turn !== undefined) await turn;
    try {
      return await this.#send(method, params, options, revision);
    } finally {
      this.#turns.pass();
    }
  }

  #send(
    method: string,
    params: Record<string, unknown>,
    options: CallOptions = {},
    revision: Revision = this.#revision,
  ): Promise<unknown> {
    const { requestTimeoutMs = 60_000 } = this.#options;
    return this.#connection.request(
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
  }

  #checkArguments(
    name: string,
    args: Record<string, unknown>,
  ): void | Promise<void> {
    const schema = this.#schemas.get(name);
    if (schema === undefined) return;
    const refuse = (faults: string | undefined): void => {
      if (faults === undefined) return;
      throw new InvalidArgumentsError(
        `Cannot call tool ${describe(name)}: ${faults}`,
      );
    };
    const blame = (error: unknown): never => {
      throw new ProtocolError(
        `Cannot call tool ${describe(name)}: ${messageOf(error)}`,
        { code: ErrorCode.InternalError, cause: error },
      );
    };
    let faults;
    try {
      faults = findFaults(schema, this.#revision.dialect, args);
    } catch (error) {
      return blame(error);
    }
    return faults instanceof Promise
      ? faults.then(refuse, blame)
      : refuse(faults);
  }
}

const CLIENT_INFO = { name: "miniagent-client", version: VERSION };
const PROBE_TIMEOUT_MS = 2000;
const FLUSH_MS = 500;
/** More than any list has: a server that never ends its list must not keep us. */
const MAX_PAGES = 1000;
const MAX_LIST_CHARACTERS = 64 * 1024 * 1024;

function statelessMeta(revision: Revision): Record<string, unknown> {
  return {
    [MetaKey.protocolVersion]: revision.protocolVersion,
    [MetaKey.clientInfo]: CLIENT_INFO,
    [MetaKey.clientCapabilities]: {},
  };
}

/** By name, so that `--allow-run=deno` is enough wherever Deno lies. */
function serverBeside(): string[] {
  // Reached in a compiled client only.
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
