/**
 * Drives our server with the command line of `@modelcontextprotocol/inspector`:
 * one process, hence one server, for each call.
 *
 * @module
 */

// deno-lint-ignore-file explicit-function-return-type -- JavaScript has no types

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { config, runSteps } from "./_steps.mjs";

const CLI =
  `${config.folder}/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js`;

function inspect(...options) {
  const args = [CLI, "--cli", ...config.command, ...options];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      args,
      { timeout: 30_000 },
      (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout));
        else reject(new Error(stderr.trim() || error.message));
      },
    );
  });
}

/** The command line does not tell the revision; the trace of its wire does. */
function revisionOnWire() {
  const trace = readFileSync(config.trace, "utf8");
  return /protocolVersion\\":\\"([\d-]+)\\"/.exec(trace)?.[1];
}

await runSteps(async () => {
  const { tools } = await inspect("--method", "tools/list");
  return {
    revision: revisionOnWire(),
    listTools: () => Promise.resolve(tools),
    callTool: (name, args) =>
      inspect(
        "--method",
        "tools/call",
        "--tool-name",
        name,
        ...Object.entries(args).flatMap((
          [key, value],
        ) => ["--tool-arg", `${key}=${value}`]),
      ),
    close: () => Promise.resolve(),
  };
});
