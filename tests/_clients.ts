/**
 * What the client's tests need: servers to start, and whether any is left.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { MCPClient, type MCPClientOptions } from "../client.ts";

/** Whether processes may be started: tests that start some are ignored if not. */
export const mayRun: boolean =
  (Deno.permissions.querySync({ name: "run" }).state === "granted") &&
  (Deno.permissions.querySync({ name: "read" }).state === "granted");

/** A command with a word in it that no other process has. */
export interface MarkedCommand {
  command: string[];
  mark: string;
}

/** A server that misbehaves in the way that `bad_server.ts` calls so. */
export function badServer(behaviour: string, result?: object): MarkedCommand {
  const mark = crypto.randomUUID();
  const path = pathOf("./bad_server.ts");
  const words = [behaviour, JSON.stringify(result ?? {}), mark];
  const deno = ["deno", "run", "--quiet", "--no-prompt", "--allow-run"];
  return { command: [...deno, path, ...words], mark };
}

/** Our own server. It takes no words, so that the mark is a number. */
export function ourServer(...flags: string[]): MarkedCommand {
  const random = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const mark = `${10 ** 10 + random}`;
  const limit = ["--max-message-bytes", mark];
  const deno = ["deno", "run", "--quiet", "--no-prompt"];
  return {
    command: [...deno, pathOf("../server.ts"), ...limit, ...flags],
    mark,
  };
}

/** Tell whether a process with that word in its command is alive. */
export async function isRunning(mark: string): Promise<boolean> {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", "cat /proc/[0-9]*/cmdline 2>/dev/null || ps -A -o args="],
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout).includes(mark);
}

/** Options that make a client quiet, and impatient enough for a test. */
export const QUIET: MCPClientOptions = {
  requestTimeoutMs: 10_000,
  closeTimeoutMs: 2_000,
  logLevel: "ERROR",
  onStderr: () => {},
};

/** Use a client of a server, and see that no process is left. */
export async function withClient(
  { command, mark }: MarkedCommand,
  options: MCPClientOptions,
  use: (client: MCPClient) => unknown,
): Promise<void> {
  try {
    await using client = new MCPClient(command, { ...QUIET, ...options });
    await use(client);
  } finally {
    assertEquals(await isRunning(mark), false, "a process is left");
  }
}

/** Open a client: its session, and its list of tools. */
export async function open(client: MCPClient): Promise<void> {
  await client.initialize();
  await client.listTools();
}

/** The path of a file beside the tests. */
export function pathOf(relative: string): string {
  return decodeURIComponent(new URL(relative, import.meta.url).pathname);
}
