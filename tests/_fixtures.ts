/**
 * What several tests need: bytes in chunks, and two ends of a pipe in memory.
 *
 * @module
 */

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
 */
export function chunked(
  bytes: Uint8Array,
  cut: Iterable<number>,
): ReadableStream<Uint8Array> {
  const borders = [...cut, bytes.length];
  return ReadableStream.from(
    borders.map((end, i) => bytes.slice(borders[i - 1] ?? 0, end)),
  );
}

/** Two ends: what is written at one is read at the other. */
export function memoryPair(): [Duplex, Duplex] {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

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
