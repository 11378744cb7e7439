/**
 * A program: drives one server over two named pipes, does one kind of
 * measurement and prints its numbers as JSON.
 *
 * Every read and write blocks (0.5 µs each, where an awaited one costs 10), so
 * that what is measured is the server. That a wait ends is left to the parent,
 * which ends the server after its time: the read here then sees the end.
 *
 * @module
 */

import {
  call,
  concat,
  FIRST_ID,
  firstLength,
  type Framing,
  initialize,
  initialized,
  paddedCall,
} from "./wire.ts";

/** What to do; the program's only argument, as JSON. */
export interface Job {
  /** The kind of measurement. */
  kind: "idle" | "call" | "bulk" | "large" | "bytes";
  /** How the server is spoken to. */
  framing: Framing;
  /** The named pipe that the server reads. */
  input: string;
  /** The named pipe that the server writes. */
  output: string;
  /** The server's process, for what `/proc` says of it. */
  pid: number;
  /** Calls that are not timed: before the message, or between the first and the later calls. */
  warmup: number;
  /** Calls to time, twice; for `bulk`, how many the file holds. */
  calls: number;
  /** For `large` and `bytes`: the length of the message, in bytes. */
  size: number;
  /** For `large`: the longest write, in bytes. */
  chunk: number;
  /** For `bulk`: the file of requests. */
  file: string;
}

/** What came out: a number for each name. */
export type Numbers = Record<string, number>;

/** The two ends of the server's pipes, with blocking calls. */
class Pipes {
  #input: Deno.FsFile;
  #output: Deno.FsFile;
  #buffer = new Uint8Array(1 << 20);

  constructor(job: Job) {
    this.#input = Deno.openSync(job.input, { write: true });
    this.#output = Deno.openSync(job.output);
  }

  /** Write all of some bytes. */
  send(bytes: Uint8Array): void {
    let at = this.#input.writeSync(bytes);
    while (at < bytes.length) at += this.#input.writeSync(bytes.subarray(at));
  }

  /** Read one answer of a known length. */
  receive(length: number): Uint8Array {
    const answer = this.#buffer.subarray(0, length);
    let at = this.#read(answer);
    while (at < length) at += this.#read(answer.subarray(at));
    return answer;
  }

  /** Read so many bytes and drop them. */
  skip(length: number): void {
    let left = length;
    while (left > 0) left -= this.#read(this.#buffer.subarray(0, left));
  }

  /** Read one whole message, of whatever length. */
  receiveOne(framing: Framing): Uint8Array {
    let whole = new Uint8Array(0);
    while (firstLength(whole, framing) === undefined) {
      const read = this.#read(this.#buffer);
      whole = concat(whole, this.#buffer.subarray(0, read));
    }
    return whole;
  }

  #read(into: Uint8Array): number {
    const read = this.#output.readSync(into);
    if (read === null || read === 0) {
      throw new Error("Cannot read answer: server has ended");
    }
    return read;
  }

  close(): void {
    this.#input.close();
    this.#output.close();
  }
}

const kinds: Record<
  Job["kind"],
  (pipes: Pipes, job: Job, answer: number) => Numbers | Promise<Numbers>
> = { idle, call: oneInFlight, bulk, large, bytes };

if (import.meta.main) {
  const job: Job = JSON.parse(Deno.args[0] ?? "{}");
  const pipes = new Pipes(job);
  const answer = handshake(pipes, job);
  const numbers = await kinds[job.kind](pipes, job, answer);
  pipes.close();
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(numbers)));
}

/** Opens the session and makes one call; gives the length of its answer. */
function handshake(pipes: Pipes, { framing }: Job): number {
  pipes.send(initialize(framing));
  pipes.receiveOne(framing);
  pipes.send(initialized(framing));
  pipes.send(call(FIRST_ID, framing));
  const answer = pipes.receiveOne(framing);
  check(answer, FIRST_ID);
  return answer.length;
}

function idle(_pipes: Pipes, { pid }: Job): Numbers {
  sleep(300);
  return { rss: memory(pid, "VmRSS") };
}

function oneInFlight(pipes: Pipes, job: Job, answer: number): Numbers {
  const cold = timeCalls(pipes, job, answer);
  warmUp(pipes, job, answer);
  const warm = timeCalls(pipes, job, answer);
  return {
    rate: cold.rate,
    p50: cold.p50,
    p99: cold.p99,
    warmRate: warm.rate,
    warmP50: warm.p50,
    warmP99: warm.p99,
  };
}

function timeCalls(
  pipes: Pipes,
  job: Job,
  answer: number,
): { rate: number; p50: number; p99: number } {
  const request = call(FIRST_ID, job.framing);
  const digits = new TextDecoder().decode(request).indexOf(`${FIRST_ID}`);
  const times = new Float64Array(job.calls);
  let last: Uint8Array = new Uint8Array(0);
  const begun = performance.now();
  let before = begun;
  for (let call = 0; call < job.calls; call++) {
    writeDigits(request, digits, FIRST_ID + call);
    pipes.send(request);
    last = pipes.receive(answer);
    const now = performance.now();
    times[call] = now - before;
    before = now;
  }
  check(last, FIRST_ID + job.calls - 1);
  times.sort();
  return {
    rate: 1000 * job.calls / (before - begun),
    p50: 1000 * (times[Math.floor(job.calls * 0.5)] ?? NaN),
    p99: 1000 * (times[Math.floor(job.calls * 0.99)] ?? NaN),
  };
}

async function bulk(pipes: Pipes, job: Job, answer: number): Promise<Numbers> {
  const begun = performance.now();
  const writer = new Deno.Command("sh", {
    args: ["-c", 'exec cat "$0" >"$1"', job.file, job.input],
    stdin: "null",
    stdout: "null",
  }).spawn();
  pipes.skip(answer * (job.calls - 1));
  const last = pipes.receive(answer);
  const time = performance.now() - begun;
  check(last, FIRST_ID + job.calls - 1);
  const peak = memory(job.pid, "VmHWM");
  await writer.status;
  return { rate: 1000 * job.calls / time, peak };
}

function large(pipes: Pipes, job: Job, answer: number): Numbers {
  warmUp(pipes, job, answer);
  const request = paddedCall(FIRST_ID, job.size, job.framing);
  const begun = performance.now();
  for (let at = 0; at < request.length; at += job.chunk) {
    pipes.send(request.subarray(at, at + job.chunk));
  }
  check(pipes.receive(answer), FIRST_ID);
  const time = performance.now() - begun;
  return { time, peak: memory(job.pid, "VmHWM") };
}

function bytes(pipes: Pipes, job: Job, answer: number): Numbers {
  warmUp(pipes, job, answer);
  const request = paddedCall(FIRST_ID, job.size, job.framing);
  const before = cpuTime(job.pid);
  for (let at = 0; at < request.length; at++) {
    // Time for the server to take this byte before the next one is there.
    const until = performance.now() + 0.03;
    pipes.send(request.subarray(at, at + 1));
    while (performance.now() < until);
  }
  check(pipes.receive(answer), FIRST_ID);
  return { cpu: cpuTime(job.pid) - before };
}

function warmUp(pipes: Pipes, job: Job, answer: number): void {
  const request = call(FIRST_ID, job.framing);
  for (let call = 0; call < job.warmup; call++) {
    pipes.send(request);
    pipes.receive(answer);
  }
}

/** Sees that an answer is the success with that id. */
function check(answer: Uint8Array, id: number): void {
  const text = new TextDecoder().decode(answer);
  if (!text.includes(`"id":${id}`) || !text.includes('"text":"ate"')) {
    throw new Error(
      `Cannot take answer: it is ${JSON.stringify(text.slice(0, 300))}`,
    );
  }
}

function writeDigits(bytes: Uint8Array, at: number, value: number): void {
  let rest = value;
  for (let digit = 5; digit >= 0; digit--) {
    bytes[at + digit] = 48 + rest % 10;
    rest = Math.floor(rest / 10);
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Reads a size from `/proc/PID/status`, in MiB. */
function memory(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const match = new RegExp(`^${field}:\\s*(\\d+) kB`, "m").exec(status);
  return Number(match?.[1]) / 1024;
}

/** Reads the time on a processor, `utime + stime`, in milliseconds; it counts in 10. */
function cpuTime(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
