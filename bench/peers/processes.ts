/**
 * Starts the processes of one measurement and sees that all of them end.
 *
 * @module
 */

import type { Contender } from "./contenders.ts";
import type { Job, Numbers } from "./driver.ts";
import { CACHE } from "./install.ts";
import { firstLength, initialize } from "./wire.ts";

const INPUT = `${CACHE}/input`;
const OUTPUT = `${CACHE}/output`;
const ERRORS = `${CACHE}/stderr.log`;
const DRIVER = new URL("./driver.ts", import.meta.url).pathname;
const decoder = new TextDecoder();
const running = new Set<Deno.ChildProcess>();
/** No more than these: above all no `NODE_EXTRA_CA_CERTS`, which costs node's start 60 ms. */
const env: Record<string, string> = {
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
};
for (const name of ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME"]) {
  const value = Deno.env.get(name);
  if (value !== undefined) env[name] = value;
}

/** The cores that this process may use, by number. */
export const CORES: number[] = allowedCores();
/** Whether processes are pinned: there is a `taskset` that works. */
export const PINNED: boolean = CORES.length > 0 && hasTaskset();

/**
 * Make the named pipes.
 *
 * @throws {Error} If the machine has no `mkfifo`.
 */
export async function preparePipes(): Promise<void> {
  const { success } = await new Deno.Command("sh", {
    args: ["-c", 'rm -f "$@" && mkfifo "$@"', "sh", INPUT, OUTPUT],
  }).output();
  if (!success) throw new Error('Cannot make pipes: "mkfifo" failed');
}

/** End every process that is still there. */
export function killAll(): void {
  for (const child of running) kill(child);
}

/** How {@linkcode drive} goes about it. */
export interface DriveOptions {
  /** The longest that all of it may take, in milliseconds. */
  timeoutMs: number;
  /** Whether driver and server share one core, or have one each. */
  cores: "one" | "two";
}

/**
 * Start a server, drive it with `driver.ts`, end both.
 *
 * @param contender The server.
 * @param job What the driver does; paths and process are filled in.
 * @param options The time limit and the cores.
 * @returns The driver's numbers.
 * @throws {Error} If one of the two fails or the time is up.
 */
export async function drive(
  contender: Contender,
  job: Omit<Job, "framing" | "input" | "output" | "pid">,
  options: DriveOptions,
): Promise<Numbers> {
  const script = 'exec "$@" <"$INPUT" >"$OUTPUT" 2>"$ERRORS"';
  const serverCore = CORES[options.cores === "two" ? 1 : 0];
  const server = start(
    ["sh", "-c", script, "sh", ...pin(contender.command, serverCore)],
    { env: { INPUT, OUTPUT, ERRORS } },
  );
  const whole: Job = {
    ...job,
    framing: contender.framing,
    input: INPUT,
    output: OUTPUT,
    pid: server.pid,
  };
  // All permissions: Deno asks for no less where a file lies in /proc.
  const command = [Deno.execPath(), "run", "-A", DRIVER, JSON.stringify(whole)];
  const driver = start(pin(command, CORES[0]), {
    stdout: "piped",
    stderr: "piped",
  });
  const timer = setTimeout(killAll, options.timeoutMs);
  try {
    const { success, stdout, stderr } = await driver.output();
    if (success) return JSON.parse(decoder.decode(stdout));
    const reason = /Error: .*/.exec(decoder.decode(stderr))?.[0] ??
      "time is up";
    const log = /^.*error.*$/im.exec(await Deno.readTextFile(ERRORS))?.[0];
    throw new Error(`${reason}${log ? `; it logged: ${log}` : ""}`);
  } finally {
    kill(server);
    await server.status;
    clearTimeout(timer);
  }
}

/**
 * Time a start: from before the process is spawned to its first whole answer.
 *
 * @param contender The server.
 * @param timeoutMs The longest that it may take, in milliseconds.
 * @returns The time, in milliseconds.
 */
export async function timeStart(
  contender: Contender,
  timeoutMs: number,
): Promise<number> {
  const begun = performance.now();
  const server = start(contender.command, { stdin: "piped", stdout: "piped" });
  const timer = setTimeout(() => kill(server), timeoutMs);
  const writer = server.stdin.getWriter();
  try {
    await writer.write(initialize(contender.framing));
    let whole = new Uint8Array(0);
    for await (const chunk of server.stdout) {
      whole = new Uint8Array([...whole, ...chunk]);
      if (firstLength(whole, contender.framing) !== undefined) break;
    }
    if (whole.length === 0) throw new Error("Cannot read answer: none came");
    return performance.now() - begun;
  } finally {
    kill(server);
    await server.status;
    await writer.abort().catch(() => {});
    clearTimeout(timer);
  }
}

/**
 * Run a program to its end, on one core.
 *
 * @param command The program.
 * @param timeoutMs The longest that it may take, in milliseconds.
 * @returns How long it took, in milliseconds, and what it wrote to stdout.
 * @throws {Error} If it fails or the time is up.
 */
export async function run(
  command: string[],
  timeoutMs: number,
): Promise<{ time: number; stdout: string }> {
  const begun = performance.now();
  const child = start(command, { stdout: "piped", stderr: "piped" });
  const timer = setTimeout(() => kill(child), timeoutMs);
  const { success, stdout, stderr } = await child.output();
  const time = performance.now() - begun;
  clearTimeout(timer);
  if (success) return { time, stdout: decoder.decode(stdout) };
  throw new Error(errorOf(decoder.decode(stderr)));
}

/**
 * Put a command on one core, where that can be done.
 *
 * @param command The command.
 * @param core The core's number.
 * @returns The command to start instead.
 */
export function pin(command: string[], core: number | undefined): string[] {
  if (!PINNED || core === undefined) return command;
  return ["taskset", "-c", String(core), ...command];
}

function start(
  [program = "", ...args]: string[],
  options: Deno.CommandOptions,
): Deno.ChildProcess {
  const child = new Deno.Command(program, {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    ...options,
    env: { ...env, ...options.env },
    clearEnv: true,
  }).spawn();
  running.add(child);
  child.status.finally(() => running.delete(child));
  return child;
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    // It has ended by itself: that is what was wanted.
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Picks what an uncaught error says; a killed program says nothing. */
function errorOf(stderr: string): string {
  return /error: .*/i.exec(stderr)?.[0] ?? "time is up";
}

function allowedCores(): number[] {
  const args = ["Cpus_allowed_list", "/proc/self/status"];
  const status = decoder.decode(
    new Deno.Command("grep", { args }).outputSync().stdout,
  );
  const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(status)?.[1] ?? "";
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

function hasTaskset(): boolean {
  try {
    const args = ["-c", String(CORES[0]), "true"];
    return new Deno.Command("taskset", { args }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
