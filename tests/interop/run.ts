/**
 * Tries our server with every client, and our client with every server, of
 * `peers.ts`, and prints what came of each step.
 *
 * `deno task interop [--only NAME] [--trace] [--server "COMMAND…"]`. `--only`
 * takes any part of a peer's name. `--trace` writes what went over each wire
 * to `.cache/interop/run/PEER/trace.txt`. The packages are installed from npm
 * at the first run. Exit code 0 where every step passed.
 *
 * @module
 */

// deno-lint-ignore-file no-console -- the table on stdout is what this is for

import { type Peer, peers } from "./peers.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const CACHE = `${ROOT}.cache/interop/`;
const CLIENTS = `${ROOT}tests/interop/clients/`;
const INSTALL_LIMIT_MS = 300_000;
const PEER_LIMIT_MS = 180_000;
const EXIT_LIMIT_MS = 10_000;

interface Options {
  only: string;
  trace: boolean;
  server: string[];
}

interface StepResult {
  step: string;
  ok: boolean;
  revision?: string;
  detail?: string;
}

if (import.meta.main) Deno.exit(await main(parse(Deno.args)));

function parse(args: string[]): Options {
  const options: Options = {
    only: "",
    trace: false,
    server: ["deno", "run", "--no-prompt", `${ROOT}server.ts`],
  };
  const rest = [...args];
  while (rest.length > 0) {
    const flag = rest.shift();
    if (flag === "--only") options.only = rest.shift() ?? "";
    else if (flag === "--trace") options.trace = true;
    else if (flag === "--server") {
      options.server = (rest.shift() ?? "").split(" ");
    } else {
      console.error(`Unknown flag ${JSON.stringify(flag)}`);
      Deno.exit(2);
    }
  }
  return options;
}

async function main(options: Options): Promise<number> {
  const chosen = peers.filter(({ name }) => name.includes(options.only));
  await install(chosen);
  const counts = { passed: 0, failed: 0 };
  const failures: string[] = [];
  printRow(["peer", "version", "mode", "revision", "framing", "steps"]);
  for (const peer of chosen) {
    const results = await tryPeer(peer, options);
    for (const { step, ok, detail } of results) {
      counts[ok ? "passed" : "failed"] += 1;
      if (!ok) failures.push(`${peer.name}: ${step}: ${detail}`);
    }
    printRow([
      ...identify(peer),
      peer.mode,
      results[0]?.revision ?? "?",
      peer.framing,
      results.map(({ step, ok }) => `${step} ${ok ? "ok" : "FAIL"}`).join(", "),
    ]);
  }
  for (const failure of failures) console.log(`FAIL ${failure}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

function printRow(cells: string[]): void {
  const widths = [46, 9, 10, 10, 14];
  console.log(
    cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" ").trimEnd(),
  );
}

/** The package that a peer is, and its version. */
function identify({ packages, server }: Peer): [string, string] {
  const subject = server?.program ?? packages[0] ?? "";
  for (const spec of packages) {
    const at = spec.lastIndexOf("@");
    if (subject.startsWith(spec.slice(0, at))) {
      return [spec.slice(0, at), spec.slice(at + 1)];
    }
  }
  return [subject, "?"];
}

/** Install what is not there yet; a folder's `packages.json` says what is. */
async function install(chosen: readonly Peer[]): Promise<void> {
  for (const { folder, packages } of chosen) {
    const path = `${CACHE}${folder}`;
    const wanted = JSON.stringify(packages);
    const present = await Deno.readTextFile(`${path}/packages.json`)
      .catch(() => "");
    if (present === wanted) continue;
    console.error(`Installing ${packages.join(" ")}`);
    await Deno.mkdir(path, { recursive: true });
    await Deno.writeTextFile(`${path}/package.json`, '{"private":true}');
    const { code, stderr } = await new Deno.Command("npm", {
      args: [
        "install",
        "--save-exact",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        ...packages,
      ],
      cwd: path,
      signal: AbortSignal.timeout(INSTALL_LIMIT_MS),
    }).output();
    if (code !== 0) {
      throw new Error(
        `Cannot install ${packages.join(" ")}: npm exited with code ${code}: ` +
          new TextDecoder().decode(stderr),
      );
    }
    await Deno.writeTextFile(`${path}/packages.json`, wanted);
  }
}

/** Run one peer's driver and judge what it reports and how its server ended. */
async function tryPeer(peer: Peer, options: Options): Promise<StepResult[]> {
  const run = `${CACHE}run/${peer.name}`;
  await Deno.remove(run, { recursive: true }).catch(() => {});
  await Deno.mkdir(`${run}/empty`, { recursive: true });
  await Deno.writeTextFile(`${run}/record.txt`, "");
  const config = JSON.stringify({
    folder: `${CACHE}${peer.folder}`,
    command: ["node", `${CLIENTS}launch.mjs`, `${run}/launch.json`],
    trace: `${run}/trace.txt`,
    mode: peer.mode,
    server: peer.server,
  }).replaceAll("{DIR}", `${run}/empty`);
  await Deno.writeTextFile(
    `${run}/launch.json`,
    JSON.stringify({
      command: peer.server === undefined ? options.server : [
        "node",
        `${CACHE}${peer.folder}/node_modules/${peer.server.program}`,
        ...peer.server.args ?? [],
      ],
      env: peer.server?.env,
      record: `${run}/record.txt`,
      trace: options.trace || peer.driver === "inspector.mjs"
        ? `${run}/trace.txt`
        : undefined,
    }).replaceAll("{DIR}", `${run}/empty`),
  );
  const reported = await drive(peer, config, run);
  const lastLine = (await Deno.readTextFile(`${run}/stderr.txt`)).trim()
    .split("\n").at(-1);
  const results = peer.steps.map((step) =>
    reported.find((result) => result.step === step) ?? {
      step,
      ok: false,
      detail: `not reached; last line on stderr is ${JSON.stringify(lastLine)}`,
    }
  );
  const exits = await endOf(`${run}/record.txt`);
  return results.map((result) => judge(result, peer, exits));
}

async function drive(
  peer: Peer,
  config: string,
  run: string,
): Promise<StepResult[]> {
  const ours = peer.driver.endsWith(".ts");
  const child = new Deno.Command(ours ? "deno" : "node", {
    args: [
      ...(ours ? ["run", "--no-prompt", "--allow-run=node"] : []),
      `${CLIENTS}${peer.driver}`,
      config,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timer = setTimeout(() => child.kill("SIGKILL"), PEER_LIMIT_MS);
  const { stdout, stderr } = await child.output();
  clearTimeout(timer);
  await Deno.writeFile(`${run}/stderr.txt`, stderr);
  return new TextDecoder().decode(stdout).split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return []; // what a package prints besides our lines is not a report
    }
  });
}

/** Wait until every server that was started has ended, and say how each did. */
async function endOf(path: string): Promise<string[]> {
  const deadline = performance.now() + EXIT_LIMIT_MS;
  while (true) {
    const lines = (await Deno.readTextFile(path)).trim().split("\n");
    const open = new Set<string>();
    const exits: string[] = [];
    for (const line of lines) {
      const [event, pid = "", ...how] = line.split(" ");
      if (event === "start") open.add(pid);
      if (event === "exit" && open.delete(pid)) exits.push(how.join(" "));
    }
    if (open.size === 0) return exits;
    if (performance.now() > deadline) {
      return [...exits, ...Array.from(open, (pid) => `still running: ${pid}`)];
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function judge(result: StepResult, peer: Peer, exits: string[]): StepResult {
  if (!result.ok) return result;
  const { step, revision } = result;
  const expected = [peer.revision, peer.fallback];
  if (step === "handshake" && !expected.includes(revision)) {
    const detail = `revision is ${revision}, expected ${peer.revision}`;
    return { ...result, ok: false, detail };
  }
  if (
    step === "end" &&
    (exits.length === 0 || exits.some((how) => how !== "0 null"))
  ) {
    const detail = `exit codes and signals are ${JSON.stringify(exits)}`;
    return { ...result, ok: false, detail };
  }
  return result;
}
