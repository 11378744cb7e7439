/**
 * What several tests need: bytes in chunks, two ends of a pipe in memory,
 * programs and servers to run, and what to ask of them.
 *
 * @module
 */

import { MetaKey } from "../protocol/_meta.ts";
import { revisions } from "../protocol/revisions.ts";
import type { Tool } from "../tools/registry.ts";

/** The two directions at one end of a {@linkcode memoryPair}. */
export interface Duplex {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
}

/**
 * A stream of bytes that come in chunks, each when it is asked for. Each chunk
 * has a buffer of its own.
 *
 * @param bytes All the bytes.
 * @param cut Where they are cut, ascending: `[]` is one chunk, `bytes.keys()`
 * byte by byte. A position named twice, or 0, gives an empty chunk.
 * @param type `"bytes"` for one that fills the reader's buffer, as a pipe does;
 * it has no empty chunks.
 */
export function chunked(
  bytes: Uint8Array,
  cut: Iterable<number>,
  type?: "bytes",
): ReadableStream<Uint8Array> {
  const borders = [...cut, bytes.length];
  const chunks = borders.map((end, i) => bytes.slice(borders[i - 1] ?? 0, end));
  if (type === undefined) return ReadableStream.from(chunks);
  const full = chunks.values().filter((chunk) => chunk.length > 0);
  return new ReadableStream({
    type,
    pull(controller): void {
      const { done, value } = full.next();
      if (!done) return controller.enqueue(value);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** The kinds of stream that {@linkcode chunked} makes. */
export const STREAM_TYPES = [undefined, "bytes"] as const;

/** Two ends: what is written at one is read at the other. */
export function memoryPair(): [Duplex, Duplex] {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

/**
 * What a request says of itself in its `params` by the rules of a revision:
 * nothing where the handshake has said it.
 *
 * @param version The revision's date.
 */
export function claimOf(version: string): { _meta?: Record<string, unknown> } {
  if (revisions.get(version)?.opening !== "request") return {};
  return {
    _meta: {
      [MetaKey.protocolVersion]: version,
      [MetaKey.clientCapabilities]: {},
    },
  };
}

/**
 * Arguments that a tool takes: the first example or choice that its schema
 * gives for each.
 *
 * @param tool The tool.
 */
export function exampleArguments(tool: Tool): Record<string, unknown> {
  const properties = tool.inputSchema["properties"] as Record<
    string,
    { enum?: unknown[]; examples?: unknown[] }
  >;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      (schema.examples ?? schema.enum)?.[0],
    ]),
  );
}

/** An empty folder. Leaving the block removes it, whatever it then holds. */
export async function temporaryFolder(): Promise<
  { path: string } & AsyncDisposable
> {
  const path = await Deno.makeTempDir();
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/** How {@linkcode run} runs a program. */
export interface RunOptions {
  /** Its working directory, the checkout if absent. */
  cwd?: string | undefined;
  /** Variables added to its environment. */
  env?: Record<string, string> | undefined;
  /** What it reads, nothing if absent. */
  input?: Uint8Array<ArrayBuffer> | undefined;
  /** How long it may take, in milliseconds, a minute if absent. */
  limitMs?: number | undefined;
}

/** What a program wrote, and its exit code. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Run a program to its end.
 *
 * @param command The program and its arguments.
 * @param options Where and how.
 */
export async function run(
  [program = "", ...args]: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const { cwd = ROOT, env, input = new Uint8Array(), limitMs = 60_000 } =
    options;
  const child = new Deno.Command(program, {
    args,
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(limitMs),
  }).spawn();
  const output = child.output();
  await new Blob([input]).stream().pipeTo(child.stdin).catch(() => {});
  const { code, stdout, stderr } = await output;
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

const ROOT = `${import.meta.dirname}/..`;

/** How {@linkcode startServer} starts a server. */
export interface StartOptions {
  /** The program, `server.ts` if absent. */
  program?: string | URL;
  /** Flags for Deno. */
  denoFlags?: string[];
  /** Flags for the server. */
  args?: string[];
}

/**
 * Start a server as a child process. Leaving the block, or half a minute, ends
 * it, whatever it does.
 *
 * @param options The program and its flags.
 */
export function startServer(options: StartOptions = {}): StartedServer {
  return new StartedServer(options);
}

const SERVER_LIMIT_MS = 30_000;

/** A server as a child process. Its outputs are read from when they are first asked for. */
export class StartedServer implements AsyncDisposable {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly child: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #limit: ReturnType<typeof setTimeout>;

  constructor({ program, denoFlags = [], args = [] }: StartOptions) {
    const path = String(program ?? new URL("../server.ts", import.meta.url));
    this.child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-prompt", ...denoFlags, path, ...args],
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#stdin = this.child.stdin.getWriter();
    this.stdout = new Output(this.child.stdout);
    this.stderr = new Output(this.child.stderr);
    this.#limit = setTimeout(() => this.#kill(), SERVER_LIMIT_MS);
  }

  /** Write to the server's stdin; resolves once the pipe has taken it. */
  async write(input: string | Uint8Array): Promise<void> {
    await this.#stdin.write(
      typeof input === "string" ? new TextEncoder().encode(input) : input,
    );
  }

  /** Close the server's stdin. */
  async closeInput(): Promise<void> {
    await this.#stdin.close();
  }

  /** All that is left of both outputs, and the exit code. */
  async end(): Promise<{ code: number; stdout: string; stderr: string }> {
    const [stdout, stderr] = await Promise.all([
      this.stdout.all(),
      this.stderr.all(),
    ]);
    const { code } = await this.child.status;
    return { code, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#limit);
    this.#kill();
    await this.child.status;
    await Promise.allSettled([
      this.#stdin.abort(),
      this.stdout.cancel(),
      this.stderr.cancel(),
    ]);
  }

  #kill(): void {
    try {
      this.child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

/** Text that comes from a process, kept as far as it was read. */
export class Output {
  text = "";
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Read until the text matches; gives all text so far. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (!await this.#read()) {
        throw new Error(`${pattern} did not come, only: ${this.text}`);
      }
    }
    return this.text;
  }

  /** Read to the end; gives all text. */
  async all(): Promise<string> {
    while (await this.#read());
    return this.text;
  }

  /** Close the pipe: its writer finds nobody there. */
  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  async #read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    this.text += this.#decoder.decode(value, { stream: !done });
    return !done;
  }
}
