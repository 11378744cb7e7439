/**
 * The whole experiment without a shell: what `manual.sh` does, on any system.
 *
 * @module
 */

import { buildInput } from "./build_input.ts";
import { report } from "./report.ts";

const SERVER = import.meta.resolve("../../server.ts");

/** `input.bin` through the server, to `output.bin` and `stderr.log`. */
async function pipeThroughServer(folder: string): Promise<void> {
  const server = new Deno.Command("deno", {
    args: ["run", "--quiet", "--no-prompt", SERVER],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = server.output();
  const input = await Deno.open(`${folder}/input.bin`);
  await input.readable.pipeTo(server.stdin);
  const { code, stdout, stderr } = await output;
  await Deno.writeFile(`${folder}/output.bin`, stdout);
  await Deno.writeFile(`${folder}/stderr.log`, stderr);
  if (code !== 0) {
    throw new Error(
      `Cannot run the session: server exited with code ${code}: ` +
        new TextDecoder().decode(stderr),
    );
  }
}

if (import.meta.main) {
  const folder = Deno.args[0] ?? import.meta.dirname ?? ".";
  await buildInput(folder);
  await pipeThroughServer(folder);
  if (!await report(folder)) Deno.exitCode = 1;
}
