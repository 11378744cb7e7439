/**
 * Starts a server for a peer and writes down how it ended, since most peers do
 * not tell. The server inherits the three streams, so that the peer talks to
 * it directly; signals are passed on. With `trace` set the streams are relayed
 * instead, and what passes is written to that file.
 *
 * `node launch.mjs CONFIG`, CONFIG being a JSON file
 * `{ command: string[], record: string, env?: object, trace?: string }`. The
 * record gets one line at the start and one at the end: `start PID`,
 * `exit PID CODE SIGNAL`.
 *
 * @module
 */

// deno-lint-ignore-file explicit-function-return-type -- JavaScript has no types

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import process from "node:process";

const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const [command, ...args] = config.command;
const traced = config.trace !== undefined;
const child = spawn(command, args, {
  env: { ...process.env, ...config.env },
  stdio: traced ? ["pipe", "pipe", "inherit"] : "inherit",
});
const record = (line) => appendFileSync(config.record, `${line}\n`);
record(`start ${child.pid}`);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  process.on(signal, () => {
    if (traced) appendFileSync(config.trace, `! ${signal}\n`);
    child.kill(signal);
  });
}
if (traced) relay();

child.on("error", (error) => {
  record(`exit ${child.pid} 127 ${error.message}`);
  process.exit(127);
});
child.on("close", (code, signal) => {
  record(`exit ${child.pid} ${code} ${signal}`);
  process.exit(code ?? 1);
});

function relay() {
  const note = (mark, chunk) =>
    appendFileSync(config.trace, `${mark} ${JSON.stringify(String(chunk))}\n`);
  process.stdin.on("data", (chunk) => note(">", chunk));
  process.stdin.on("end", () => note(">", "[EOF]"));
  process.stdin.pipe(child.stdin);
  child.stdout.on("data", (chunk) => note("<", chunk));
  child.stdout.pipe(process.stdout);
  child.stdin.on("error", () => {});
  process.stdout.on("error", () => child.stdout.destroy());
}
