import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { TransportError } from "../../protocol/errors.ts";
import {
  describeExit,
  ServerProcess,
  within,
} from "../../runtime/child_process.ts";
import { Logger } from "../../runtime/log.ts";
import { badServer, isRunning, mayRun } from "../_clients.ts";

interface Ended {
  log: string;
  heard: string[];
  lastLines: readonly string[];
  tookMs: number;
}

/** Start a process, let it come to its first line or its end, and close it. */
async function runToEnd(
  command: string[],
  options: { closeTimeoutMs?: number; onStderr?: (line: string) => void } = {},
): Promise<Ended> {
  let log = "";
  const heard: string[] = [];
  const first = Promise.withResolvers<void>();
  const process = new ServerProcess(command, {
    closeTimeoutMs: 5_000,
    log: new Logger("test", { write: (text) => log += text }),
    ...options,
    onStderr: (line) => {
      heard.push(line);
      first.resolve();
      options.onStderr?.(line);
    },
  });
  await Promise.race([first.promise, process.exited]);
  const started = performance.now();
  await process.close(() => process.stdin.close().catch(() => {}));
  const tookMs = performance.now() - started;
  await process.stdout.cancel();
  return { log, heard, lastLines: process.lastLines, tookMs };
}

function test(name: string, use: () => Promise<unknown>): void {
  Deno.test(name, { ignore: !mayRun }, async () => void await use());
}

/** A script that says when it is ready. */
function shell(script: string): string[] {
  return ["sh", "-c", `echo ready >&2; ${script}`];
}

// ---- the ladder

const LADDER: {
  does: string;
  command: string[];
  closeTimeoutMs?: number;
  log: RegExp;
  fromMs: number;
  toMs: number;
}[] = [
  {
    does: "says nothing of a server that exits with 0 at the end of its input",
    command: shell("cat"),
    log: /^$/,
    fromMs: 0,
    toMs: 2_000,
  },
  {
    does: "tells of a server that exits with another code, and its last lines",
    command: shell("cat; echo bad end >&2; exit 7"),
    log:
      /^WARNING test: Server "sh" exited with code 7; its last stderr lines are "ready", "bad end"\n$/,
    fromMs: 0,
    toMs: 2_000,
  },
  {
    does: "sends SIGTERM to a server that ignores the end of its input",
    command: shell("exec sleep 100"),
    closeTimeoutMs: 30,
    log:
      /^WARNING .* 30 ms after its stdin was closed; sending SIGTERM\nWARNING .* was ended by SIGTERM; .*\n$/,
    fromMs: 30,
    toMs: 900,
  },
  {
    does: "sends SIGKILL to a server that ignores SIGTERM too, a second later",
    command: shell("trap '' TERM; while :; do sleep 0.1; done"),
    closeTimeoutMs: 30,
    log:
      /^WARNING .*SIGTERM\nWARNING .* 1000 ms after SIGTERM; sending SIGKILL\nWARNING .* was ended by SIGKILL; .*\n$/,
    fromMs: 1_000,
    toMs: 2_500,
  },
  {
    does: "does not wait for a grandchild that holds stderr",
    command: shell("sleep 1 >/dev/null & exec cat"),
    log: /^$/,
    fromMs: 200,
    toMs: 900,
  },
];

for (const { does, command, closeTimeoutMs, log, fromMs, toMs } of LADDER) {
  test(`ServerProcess.close() ${does}`, async () => {
    const ended = await runToEnd(command, {
      ...(closeTimeoutMs === undefined ? {} : { closeTimeoutMs }),
    });
    assert(log.test(ended.log), ended.log);
    const { tookMs } = ended;
    assert(tookMs >= fromMs && tookMs < toMs, `took ${tookMs} ms`);
  });
}

for (const behaviour of ["ignore-eof", "ignore-sigterm", "fail-at-end"]) {
  test(`ServerProcess.close() leaves no process of a server: ${behaviour}`, async () => {
    const { command, mark } = badServer(behaviour);
    await runToEnd(
      ["sh", "-c", 'echo ready >&2; exec "$@"', "sh", ...command],
      {
        closeTimeoutMs: 300,
      },
    );
    assertEquals(await isRunning(mark), false);
  });
}

test("ServerProcess.close() does the same when it is called twice", async () => {
  const log = new Logger("test", { write: () => {} });
  const process = new ServerProcess(["cat"], { closeTimeoutMs: 1_000, log });
  let closed = 0;
  const close = (): void => {
    closed++;
    process.stdin.close().catch(() => {});
  };
  const first = process.close(close);
  assert(process.close(close) === first);
  await first;
  assertEquals(closed, 1);
  assertEquals(await process.exited, { code: 0, signal: null });
  await process.stdout.cancel();
});

// ---- stderr

const STDERR: { does: string; script: string; heard: string[] }[] = [
  {
    does: "line by line, and what follows the last line end",
    script: "printf 'a\\n\\nb\\r\\nc' >&2",
    heard: ["ready", "a", "", "b", "c"],
  },
  {
    does: "as UTF-8, with marks in place of what is not",
    script: "printf 'é\\377x\\n' >&2",
    heard: ["ready", "é\ufffdx"],
  },
  {
    does: "with the rest of a long line counted, not kept",
    script: "head -c 5000 /dev/zero | tr '\\0' x >&2; printf 'y\\nz\\n' >&2",
    heard: ["ready", `${"x".repeat(4096)}… (905 characters more)`, "z"],
  },
  {
    does: "with a progress bar as one line",
    script: "printf '1%%\\r2%%\\r\\n' >&2",
    heard: ["ready", "1%\r2%"],
  },
];

for (const { does, script, heard } of STDERR) {
  test(`ServerProcess hears stderr ${does}`, async () => {
    assertEquals((await runToEnd(shell(script))).heard, heard);
  });
}

test("ServerProcess keeps the last 20 lines", async () => {
  const script = "i=0; while [ $i -lt 50 ]; do echo $i >&2; i=$((i+1)); done";
  const { heard, lastLines } = await runToEnd(shell(script));
  assertEquals(heard.length, 51);
  assertEquals(lastLines, heard.slice(31));
});

test("ServerProcess does not keep a line of 20 MB", async () => {
  const { heard } = await runToEnd(badServer("long-line").command);
  const [long = "", after] = heard;
  assertStringIncludes(long, "… (9995904 characters more)");
  assert(long.length < 5_000);
  assertEquals(after, "after");
});

test("ServerProcess goes on when onStderr throws", async () => {
  const { log, heard } = await runToEnd(shell("echo a >&2; cat"), {
    onStderr: () => {
      throw new Error("of the hook");
    },
  });
  assertEquals(heard, ["ready", "a"]);
  assertEquals(
    log.match(/ERROR test: onStderr failed: of the hook/g)?.length,
    2,
  );
});

// ---- the rest

test("ServerProcess throws what the caller can act on when it cannot start", () => {
  const log = new Logger("test", { write: () => {} });
  const start = (command: string[], cwd?: string): ServerProcess =>
    new ServerProcess(command, { closeTimeoutMs: 1, log, cwd });
  assertThrows(() => start([]), TypeError, "the command is empty");
  assertThrows(() => start(["no\nsuch"]), TransportError, '"no\\nsuch"');
  assertThrows(() => start(["sh"], "/no/such"), TransportError, "No such cwd");
  return Promise.resolve();
});

Deno.test("describeExit() says how a process ended, and what it said", () => {
  assertEquals(
    describeExit("a b", { code: 0, signal: null }, []),
    '"a b" exited with code 0; it wrote nothing to stderr',
  );
  assertEquals(
    describeExit("a", { code: 137, signal: "SIGKILL" }, ["\u001b[1m", "b"]),
    '"a" was ended by SIGKILL; its last stderr lines are "\\u001b[1m", "b"',
  );
  assertStringIncludes(describeExit("a", undefined, []), "has not exited");
});

Deno.test("within() gives the value, the rejection, or undefined in time", async () => {
  assertEquals(await within(1_000, Promise.resolve(1)), 1);
  const rejected = Promise.reject(new Error("no"));
  await assertRejects(() => within(1_000, rejected), Error, "no");
  assertEquals(await within(5, new Promise(() => {})), undefined);
});
