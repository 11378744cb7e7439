import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  flushStderr,
  keepStdoutClean,
  LOG_LEVELS,
  Logger,
  printable,
} from "../../runtime/log.ts";

const LOG_URL = new URL("../../runtime/log.ts", import.meta.url).href;
const LIMIT_MS = 20_000;
const run = Deno.permissions.querySync({ name: "run" }).state === "granted";

/** What a logger writes. */
function logged(options: object, act: (log: Logger) => void): string {
  let output = "";
  const write = (text: string): void => {
    output += text;
  };
  act(new Logger("test", { ...options, write }));
  return output;
}

/** Run a program that imports the log; gives its two outputs. */
async function runProgram(
  code: string,
): Promise<[stdout: string, stderr: string]> {
  const source = `import * as log from ${JSON.stringify(LOG_URL)};\n${code}`;
  const { code: exitCode, stdout, stderr } = await new Deno.Command(
    Deno.execPath(),
    {
      args: ["eval", "--quiet", source],
      env: { NO_COLOR: "1" },
      signal: AbortSignal.timeout(LIMIT_MS),
    },
  ).output();
  const decoder = new TextDecoder();
  assertEquals(exitCode, 0, decoder.decode(stderr));
  return [decoder.decode(stdout), decoder.decode(stderr)];
}

function logAll(log: Logger): void {
  log.debug("a");
  log.info("b");
  log.warning("c");
  log.error("d");
}

const ALL = [
  "DEBUG test: a\n",
  "INFO test: b\n",
  "WARNING test: c\n",
  "ERROR test: d\n",
];
for (const [i, level] of LOG_LEVELS.entries()) {
  Deno.test("Logger refuses a level that there is not", () => {
    assertThrows(
      () => logged({ level: "LOUD" }, () => {}),
      RangeError,
      'level is "LOUD", expected one of DEBUG, INFO, WARNING, ERROR',
    );
  });

  Deno.test(`Logger writes no line below its level when that is ${level}`, () => {
    assertEquals(logged({ level }, logAll), ALL.slice(i).join(""));
  });
}

Deno.test("Logger writes INFO and above when no level is given", () => {
  assertEquals(logged({}, logAll), ALL.slice(1).join(""));
});

Deno.test("Logger.error() writes the frames of a stack, a line each", () => {
  const lines = logged({}, (log) => log.error("It failed", new TypeError("x")))
    .trim().split("\n");
  assertEquals(lines[0], "ERROR test: It failed: TypeError: x");
  assert(lines.length > 1);
  for (const line of lines.slice(1)) assertMatch(line, /^ERROR test: +at /);
});

Deno.test("Logger lets no text begin a line of its own", () => {
  const forged = "x\n    at y\nWARNING test: forged";
  const texts: ((log: Logger) => void)[] = [
    (log) => log.warning(forged),
    (log) => log.error(forged),
    (log) => log.error("It failed", new Error(forged)),
    (log) => log.error("It failed", forged),
    (log) => log.error("It failed", undefined, { toString: () => forged }),
  ];
  for (const act of texts) {
    const [first = "", ...frames] = logged({}, act).trim().split("\n");
    assertMatch(first, /x\\u000a {4}at y\\u000aWARNING test: forged$/);
    for (const frame of frames) {
      assertMatch(frame, /^ERROR test: +at .*:\d+\)?$/);
    }
  }
});

Deno.test("Logger.error() says so when what was thrown cannot be shown", () => {
  assertEquals(
    logged({}, (log) => log.error("It failed", Object.create(null))),
    "ERROR test: It failed: a value that cannot be shown\n",
  );
});

Deno.test("Logger writes no control character, whatever the text", () => {
  const controls = Array.from(
    { length: 0xa0 },
    (_, i) => String.fromCharCode(i),
  );
  const text = [...controls, "\u2028", "\u2029", "\u202e", "\u2066"].join("");
  const [line = "", ...rest] = logged({}, (log) => log.info(text)).split("\n");
  assertEquals(rest, [""]);
  assertEquals(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(line), false);
  assertMatch(line, /\\u0000.*\\u0009\\u000a.*\\u001b.* !.*~\\u007f.*\\u202e/);
});

Deno.test("Logger cuts a text of over 8192 characters and says how long it was", () => {
  const output = logged({}, (log) => log.info("x".repeat(100_000)));
  assertEquals(output, `INFO test: ${"x".repeat(8192)}… (100000 characters)\n`);
});

const PRINTABLE: [text: string, shown: string][] = [
  ["comió 漢🎉", "comió 漢🎉"],
  ["a\tb", "a\tb"],
  ["\u001b[2J", String.raw`\u001b[2J`],
  ["a\r\nb", String.raw`a\u000d\u000ab`],
  ["\u007f\u009b\u0000", String.raw`\u007f\u009b\u0000`],
  ["\u2028\u2029", String.raw`\u2028\u2029`],
  ["\u202egnp.exe", String.raw`\u202egnp.exe`],
];
Deno.test("printable() shows control characters as escapes", () => {
  for (const [text, shown] of PRINTABLE) assertEquals(printable(text), shown);
});

Deno.test("keepStdoutClean() gives console back once all have undone it", () => {
  const target = console;
  const { log } = target;
  const first = keepStdoutClean();
  const second = keepStdoutClean();
  first();
  assert(target.log !== log);
  second();
  assertEquals(target.log, log);
});

Deno.test("flushStderr() returns at once when nothing waits", async () => {
  await flushStderr(LIMIT_MS);
});

Deno.test("keepStdoutClean() sends all that console prints to stderr", {
  ignore: !run,
}, async () => {
  const [stdout, stderr] = await runProgram(`
    log.keepStdoutClean();
    for (const name of Object.keys(console)) {
      if (typeof console[name] === "function") console[name]("said by " + name);
    }
    console.log("a", { b: [1] }, undefined);
    console.log("%s is %d of %i, %j%%%c", "b", "1.5", 2.9, [3], "color: red", 4);
    console.log("100%", "%s");
    console.info(5, "%s");
    console.info();
    console.assert(true, "not said");
    console.assert(false, "assert %s", "said");
    console.count();
    console.count();
    console.countReset();
    console.count();
    console.time("t");
    console.timeEnd("t");
    console.timeEnd("t");
    await log.flushStderr(5000);
  `);
  assertEquals(stdout, "");
  for (
    const name of ["log", "info", "debug", "dir", "table", "group", "trace"]
  ) {
    assertMatch(stderr, new RegExp(`^ *said by ${name}$`, "m"));
  }
  for (
    const line of [
      "a { b: [ 1 ] } undefined",
      "b is 1.5 of 2, [ 3 ]% 4",
      "100% %s",
      "5 %s\n",
      "Assertion failed: assert said",
      "default: 1\ndefault: 2\ndefault: 1",
    ]
  ) {
    assert(stderr.includes(`\n${line}\n`), `${line} in\n${stderr}`);
  }
  assertMatch(stderr, /^t: \d[\d.e-]* ms\nt: NaN ms$/m);
  assertEquals(stderr.includes("not said"), false);
});

Deno.test(
  "writeStderr() keeps the order, and says how much was lost when it was too much",
  {
    ignore: !run,
  },
  async () => {
    const [, stderr] = await runProgram(`
    for (let i = 0; i < 5; i++) log.writeStderr(String(i).repeat(100_000) + "\\n");
    await log.flushStderr(5000);
    log.writeStderr("after\\n");
    await log.flushStderr(5000);
  `);
    const lines = stderr.split("\n").map((line) =>
      line.replace(/^(\d)\1+$/, "$1")
    );
    const kept = lines.filter((line) => /^\d$/.test(line));
    assertEquals(kept, [...kept].sort());
    assertMatch(stderr, /^\(\d log lines lost\)$/m);
    assertEquals(lines.slice(-2), ["after", ""]);
  },
);

Deno.test("flushStderr() gives up after its time when nobody reads stderr", {
  ignore: !run,
}, async () => {
  const source = `import * as log from ${JSON.stringify(LOG_URL)};
    for (let i = 0; i < 3; i++) log.writeStderr("x".repeat(80_000));
    await log.flushStderr(50);
    await Deno.stdout.write(new TextEncoder().encode("gone on"));
    Deno.exit(0);`;
  await using child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", source],
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(LIMIT_MS),
  }).spawn();
  assertEquals(await new Response(child.stdout).text(), "gone on");
  assertEquals((await child.status).code, 0);
  await child.stderr.cancel();
});
