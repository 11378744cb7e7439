import { assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import {
  oneOf,
  parseFlags,
  positiveInteger,
  UsageError,
} from "../../runtime/flags.ts";

const KNOWN = new Map([
  ["size", { parse: positiveInteger }],
  ["level", { parse: oneOf(["LOW", "HIGH"]) }],
  ["text", { parse: (text: string) => text }],
  ["strict", {}],
  ["help", {}],
]);

const PARSED: [
  args: string[],
  flags: [string, unknown][],
  words: string[],
  rest?: string[],
][] = [
  [[], [], []],
  [["--size", "7"], [["size", 7]], []],
  [["--size=7"], [["size", 7]], []],
  [["--size=1", "--size", "2"], [["size", 2]], []],
  [["--level=HIGH", "--strict"], [["level", "HIGH"], ["strict", true]], []],
  [["--text", ""], [["text", ""]], []],
  [["--text="], [["text", ""]], []],
  [["--text=a=b"], [["text", "a=b"]], []],
  [["--text", "--strict"], [["text", "--strict"]], []],
  [["-h"], [["help", true]], []],
  [["a", "--strict", "b=c", ""], [["strict", true]], ["a", "b=c", ""]],
  [["-"], [], ["-"]],
  [["a", "--"], [], ["a"], []],
  [["a", "--", "--size", "--"], [], ["a"], ["--size", "--"]],
];
for (const [args, flags, words, rest] of PARSED) {
  Deno.test(`parseFlags() splits ${JSON.stringify(args)}`, () => {
    assertEquals(parseFlags(args, KNOWN), {
      flags: new Map(flags),
      words,
      rest,
    });
  });
}

const REFUSED: [args: string[], message: string][] = [
  [
    ["--sise", "7"],
    'Unknown flag "--sise": expected one of --size, --level, --text, --strict, --help',
  ],
  [["-s"], 'Unknown flag "-s"'],
  [["-help"], 'Unknown flag "-help"'],
  [["---help"], 'Unknown flag "---help"'],
  [["--=1"], 'Unknown flag "--"'],
  [["-1"], 'Unknown flag "-1"'],
  [["--constructor"], 'Unknown flag "--constructor"'],
  [["--__proto__=1"], 'Unknown flag "--__proto__"'],
  [["--a\u001b[2J"], String.raw`Unknown flag "--a\u001b[2J"`],
  [["--size"], "Flag --size needs a value"],
  [["--strict=yes"], "Flag --strict takes no value"],
  [["--strict="], "Flag --strict takes no value"],
  [["-h=1"], "Flag --help takes no value"],
  [
    ["--size", "0"],
    'Flag --size is "0", expected a whole number, at least 1',
  ],
  [["--level=low"], 'Flag --level is "low", expected one of LOW, HIGH'],
  [["--level", "toString"], 'Flag --level is "toString"'],
];
for (const [args, message] of REFUSED) {
  Deno.test(`parseFlags() refuses ${JSON.stringify(args)}`, () => {
    assertThrows(() => parseFlags(args, KNOWN), UsageError, message);
  });
}

Deno.test("parseFlags() keeps why a value did not parse", () => {
  const args = ["--size", "many"];
  const error = assertThrows(() => parseFlags(args, KNOWN), UsageError);
  assertInstanceOf(error.cause, UsageError);
});

Deno.test("parseFlags() lets through what is no mistake of usage", () => {
  const parse = (): never => {
    throw new RangeError("bug");
  };
  const known = new Map([["size", { parse }]]);
  assertThrows(() => parseFlags(["--size=1"], known), RangeError, "bug");
});

Deno.test("positiveInteger() takes 1 to 15 digits that are no zero", () => {
  for (
    const [text, value] of [["1", 1], ["007", 7], [
      "9".repeat(15),
      1e15 - 1,
    ]] as const
  ) {
    assertEquals(positiveInteger(text), value);
  }
  for (
    const text of [
      "",
      "0",
      "000",
      "-1",
      "+1",
      "1.0",
      "1e3",
      "0x10",
      " 1",
      "1\n",
      "9".repeat(16),
      "NaN",
      "١",
    ]
  ) {
    assertThrows(() => positiveInteger(text), UsageError, "", text);
  }
});
