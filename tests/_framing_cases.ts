/**
 * The one table of framing cases: what a stream holds, and what `readMessage`
 * gives for it, however the stream is cut.
 *
 * Inputs have a character for each byte: `utf8("é")` is two of them.
 *
 * @module
 */

import type { Framing } from "../framing.ts";

/** Puts a body into a frame. */
export type Frame = (body: string) => string;

/** One case. */
export interface FramingCase {
  /** What `readMessage` does, when. */
  does: string;
  /** The stream. */
  input: (frame: Frame) => string;
  /** What each call gives, a line each or the beginning of it; then comes `null`. */
  gives: readonly string[];
  /** `maxMessageBytes`, 100,000 where it does not matter. */
  max?: number;
  /** Why the case does not apply to a framing. */
  skip?: Partial<Record<Framing, string>>;
}

/** What stands around a body of so many bytes. */
export interface Wrapping {
  before: (bytes: number) => string;
  after: string;
}

/** How each framing makes a frame. */
export const WRAPPINGS: Record<Framing, Wrapping> = {
  "content-length": {
    before: (bytes) => `Content-Length: ${bytes}\r\n\r\n`,
    after: "",
  },
  "newline": { before: () => "", after: "\n" },
};

/** What makes the frames of a framing. */
export function frameIn(framing: Framing): Frame {
  const { before, after } = WRAPPINGS[framing];
  return (body) => before(body.length) + body + after;
}

/** Put a text into a frame, which then is text too. */
export function frameText(text: string, framing: Framing): string {
  const { before, after } = WRAPPINGS[framing];
  return before(utf8(text).length) + text + after;
}

/** The bytes of a text in UTF-8, a character each. */
export function utf8(text: string): string {
  return Array.from(
    new TextEncoder().encode(text),
    (byte) => String.fromCharCode(byte),
  ).join("");
}

const BOM = "\xef\xbb\xbf";
const NO_HEADER = { newline: "no header in this framing" };
const NO_LINES = { "content-length": "a line end ends nothing here" };
const NOT_JSON = "-32700 Cannot read message: body is not JSON: ";
const NOT_UTF8 = "-32700 Cannot read message: body is not UTF-8";

function notMessage(value: string): string {
  return `-32600 Cannot read message: value is ${value}, expected an object or an array`;
}

function tooLong(length: number, limit: number): string {
  return `-32600 Cannot read message: length is ${length} bytes, limit is ${limit} bytes`;
}

function ended(after: string): string {
  return `FramingError Cannot read message: stream ended after ${after} bytes`;
}

/** A header block of so many bytes, for a body of two. */
function headerOf(bytes: number): string {
  const length = "\r\nContent-Length: 2\r\n\r\n";
  return `X: ${"x".repeat(bytes - length.length - 3)}${length}`;
}

/** Messages, and what may lie around them. */
const MESSAGES: readonly FramingCase[] = [
  {
    does: "returns null at EOF of an empty stream",
    input: () => "",
    gives: [],
  },
  {
    does: "returns null at EOF after blanks and byte order marks only",
    input: () => `\r\n \t${BOM}\n`,
    gives: [],
  },
  {
    does: "returns each message, an object or an array, in order",
    input: (frame) => frame('{"id":0}') + frame("[{},[]]") + frame("{}"),
    gives: ['{"id":0}', "[{},[]]", "{}"],
  },
  {
    does: "counts bytes, not characters",
    input: (frame) => frame(utf8('{"es":"comió","漢":"🎉"}')) + frame("{}"),
    gives: ['{"es":"comió","漢":"🎉"}', "{}"],
  },
  {
    does: "keeps what JSON allows raw in a string: DEL, U+2028, U+2029",
    input: (frame) => frame(utf8('{"a":"\x7f\u2028\u2029"}')),
    gives: ['{"a":"\x7f\u2028\u2029"}'],
  },
  {
    does: "takes white space around a value and in it",
    input: (frame) => frame(' \t{ "a" :\t1 } \t') + frame("[\r1\r]"),
    gives: ['{"a":1}', "[1]"],
  },
  {
    does: "takes line ends in a body",
    input: (frame) => frame('\r\n{\n"a":\r\n1\n}\r\n') + frame("{}"),
    gives: ['{"a":1}', "{}"],
    skip: { newline: "a line end ends the message here" },
  },
  {
    does: "skips blank lines between messages",
    input: (frame) => `\n\r\n \t\n${frame("{}")}\r\n\n${frame("[]")}\n\r\n `,
    gives: ["{}", "[]"],
  },
  {
    does: "skips a byte order mark before each message",
    input: (frame) => `${BOM}${frame("{}")}${BOM}${frame("[]")}${BOM}`,
    gives: ["{}", "[]"],
  },
  {
    does: "skips byte order marks and blanks in any order",
    input: (frame) => ` ${BOM}\r\n${BOM}${BOM}\t${frame("{}")}`,
    gives: ["{}"],
  },
  {
    does: "skips a byte order mark at the beginning of a body",
    input: (frame) => frame(`${BOM}{}`) + frame(` ${BOM}[]`),
    gives: ["{}", "[]"],
  },
  {
    does: "keeps U+FEFF inside a string",
    input: (frame) => frame(`{"a":"${BOM}b${BOM}"}`),
    gives: ['{"a":"\ufeffb\ufeff"}'],
  },
  {
    does: "takes lines that end in CRLF",
    input: () => "{}\r\n[]\r\n",
    gives: ["{}", "[]"],
    skip: NO_LINES,
  },
  {
    does: "takes a last line without a line end",
    input: () => '{}\n{"a":1}',
    gives: ["{}", '{"a":1}'],
    skip: NO_LINES,
  },
  {
    does: "takes a last line that ends in CR",
    input: () => "{}\n[]\r",
    gives: ["{}", "[]"],
    skip: NO_LINES,
  },
  {
    does: "does not end a message at a bare CR",
    input: () => '{"a":\r1}\n{}\r{}\n[]\n',
    gives: ['{"a":1}', NOT_JSON, "[]"],
    skip: NO_LINES,
  },
];

/** Bad bodies, after each of which reading goes on. */
const BAD_BODIES: readonly FramingCase[] = [
  ...["\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"]
    .map((bad): FramingCase => ({
      does: `refuses ${shown(bad)}, which is not UTF-8, and goes on`,
      input: (frame) => frame(`{"a":"${bad}"}`) + frame("{}"),
      gives: [NOT_UTF8, "{}"],
    })),
  {
    does: "refuses one body that is not UTF-8 among many good ones",
    input: (frame) =>
      frame("[]").repeat(20) + frame("\xff") + frame("{}").repeat(20),
    gives: [...Array(20).fill("[]"), NOT_UTF8, ...Array(20).fill("{}")],
  },
  {
    does: "refuses a body that is a part of a byte order mark, and goes on",
    input: (frame) => frame("\xef") + frame("\xef\xbb") + frame("{}"),
    gives: [NOT_UTF8, NOT_UTF8, "{}"],
  },
  {
    does: "refuses a body that begins as a byte order mark does, and goes on",
    input: (frame) => frame(utf8("｛}")) + frame("{}"),
    gives: [NOT_JSON, "{}"],
  },
  ...["{oops", "{'a':1}", "{}{}", "[NaN]", "[1,]", '["\x01"]', "\0", "\x0b"]
    .map((bad): FramingCase => ({
      does: `refuses ${shown(bad)}, which is not JSON, and goes on`,
      input: (frame) => frame(bad) + frame("{}"),
      gives: [NOT_JSON, "{}"],
    })),
  ...["5", "true", "null", '"x"', "1e400"].map((scalar): FramingCase => ({
    does: `refuses ${scalar}, neither object nor array, and goes on`,
    input: (frame) => frame(scalar) + frame("{}"),
    gives: [notMessage(scalar === "1e400" ? "Infinity" : scalar), "{}"],
  })),
  {
    does: "refuses 100,000 opening brackets and goes on",
    input: (frame) => frame("[".repeat(100_000)) + frame("{}"),
    gives: [NOT_JSON, "{}"],
  },
  {
    does: "refuses an empty body and goes on",
    input: (frame) => frame("") + frame("{}"),
    gives: [NOT_JSON, "{}"],
    skip: { newline: "an empty line is skipped" },
  },
  {
    does: "refuses a body of blanks and goes on",
    input: (frame) => frame(" \r\n") + frame(BOM) + frame("{}"),
    gives: [NOT_JSON, NOT_JSON, "{}"],
    skip: { newline: "a blank line is skipped" },
  },
  {
    does: "refuses a last line that is cut off",
    input: () => '{}\n{"a":',
    gives: ["{}", NOT_JSON],
    skip: NO_LINES,
  },
];

/** `maxMessageBytes`: the verdict hangs on the message, not on its chunks. */
const LIMITS: readonly FramingCase[] = [
  {
    does: "takes up to maxMessageBytes, skips one byte more and goes on",
    input: (frame) =>
      ["x", "xy", "xyz", "x"].map((a) => frame(`{"a":"${a}"}`)).join(""),
    max: 10,
    gives: ['{"a":"x"}', '{"a":"xy"}', tooLong(11, 10), '{"a":"x"}'],
  },
  {
    does: "holds the limit against bytes, not characters",
    input: (frame) => frame(utf8('{"é":1}')) + frame(utf8('{"漢":1}')),
    max: 8,
    gives: ['{"é":1}', tooLong(9, 8)],
  },
  {
    does: "skips one long message after the other and goes on",
    input: (frame) => frame("x".repeat(999)).repeat(3) + frame("{}"),
    max: 2,
    gives: [...Array(3).fill(tooLong(999, 2)), "{}"],
  },
  {
    does: "does not count a CRLF against the limit",
    input: () => '{"a":1}\r\n{"a":12}\r\n{"a":123}\r\n{}\r\n',
    max: 8,
    gives: ['{"a":1}', '{"a":12}', tooLong(9, 8), "{}"],
    skip: NO_LINES,
  },
  {
    does: "counts a CR that is not of the line end against the limit",
    input: () => "[1]\r\r\n[]\r\r\n",
    max: 3,
    gives: [tooLong(4, 3), "[]"],
    skip: NO_LINES,
  },
  {
    does: "does not count what it skips before a message against the limit",
    input: () => `${" ".repeat(9)}${BOM}{}\n${"\r\n".repeat(9)}\t{}`,
    max: 2,
    gives: ["{}", "{}"],
    skip: { "content-length": "the length is announced" },
  },
  {
    does: "holds the limit against a last line without a line end",
    input: () => "[10]\n[100]",
    max: 4,
    gives: ["[10]", tooLong(5, 4)],
    skip: NO_LINES,
  },
];

/** Header blocks that are taken. */
const GOOD_HEADERS: readonly FramingCase[] = [
  ...[
    ["in lower case", "content-length: 2\r\n\r\n"],
    ["in upper case", "CONTENT-LENGTH: 2\r\n\r\n"],
    ["without a space", "Content-Length:2\r\n\r\n"],
    ["with many spaces", "Content-Length:    2  \r\n\r\n"],
    ["with tabs", "Content-Length:\t2\t\r\n\r\n"],
    ["with blanks before the colon", "Content-Length \t: 2\r\n\r\n"],
    [
      "with leading zeros, 15 digits",
      "Content-Length: 000000000000002\r\n\r\n",
    ],
    [
      "twice with the same value",
      "Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
    ],
    [
      "after another header",
      "Content-Type: a; charset=utf8\r\nContent-Length: 2\r\n\r\n",
    ],
    ["before another header", "Content-Length: 2\r\nX-Trace: a:b:c\r\n\r\n"],
    [
      "beside names of Object.prototype",
      "__proto__: 1\r\nconstructor: x\r\nContent-Length: 2\r\n\r\n",
    ],
    [
      "beside bytes that are not ASCII",
      "X: \xe9\xff\0\r\nContent-Length: 2\r\n\r\n",
    ],
    ["with bare LFs", "Content-Length: 2\n\n"],
    ["with LF and CRLF mixed", "X: y\nContent-Length: 2\r\n\n"],
    ["in a block of 8 KiB exactly", headerOf(8192)],
  ].map(([which, header]): FramingCase => ({
    does: `takes Content-Length ${which}`,
    input: (frame) => `${header}{}${header}[]${frame("{}")}`,
    gives: ["{}", "[]", "{}"],
    skip: NO_HEADER,
  })),
];

/** Header blocks after which the stream is lost. */
const BAD_HEADERS: readonly FramingCase[] = [
  ...[
    "-1",
    "+5",
    "5.0",
    "0x10",
    "1e2",
    "",
    "12abc",
    "1 2",
    "5,5",
    "\xb2",
    "5\r",
    "0000000000000002",
    "99999999999999999999",
  ].map((value): FramingCase => ({
    does: `loses the stream at Content-Length ${JSON.stringify(value)}`,
    input: (frame) =>
      `${frame("{}")}Content-Length: ${value}\r\n\r\n{}${frame("{}")}`,
    gives: [
      "{}",
      'FramingError Cannot read header "Content-Length": value is ' +
      `${JSON.stringify(value)}, expected 1 to 15 digits`,
    ],
    skip: NO_HEADER,
  })),
  {
    does: "loses the stream at two Content-Lengths that differ",
    input: (frame) =>
      `Content-Length: 2\r\ncontent-length: 3\r\n\r\n{}${frame("{}")}`,
    gives: [
      'FramingError Cannot read header "Content-Length": values are 2 and 3, expected one',
    ],
    skip: NO_HEADER,
  },
  {
    does: "loses the stream at a header block without Content-Length",
    input: (frame) => `X: y\r\nLength: 2\r\n\r\n{}${frame("{}")}`,
    gives: [
      String.raw`FramingError Cannot read header block "X: y\r\nLength: 2": ` +
      'header "Content-Length" is missing',
    ],
    skip: NO_HEADER,
  },
  {
    does: "loses the stream at a line of JSON among headers",
    input: (frame) => `${frame("{}")}{"a":1}\n\n`,
    gives: [
      "{}",
      String.raw`FramingError Cannot read header block "{\"a\":1}": ` +
      'header "Content-Length" is missing',
    ],
    skip: NO_HEADER,
  },
  {
    does: "loses the stream at a part of a byte order mark before a header",
    input: (frame) => `\xef\xbb${frame("{}")}`,
    gives: ["FramingError Cannot read header block"],
    skip: NO_HEADER,
  },
  ...[headerOf(8193), "x".repeat(20_000)].map((block): FramingCase => ({
    does: `loses the stream at ${block.length} bytes of header block`,
    input: (frame) => `${block}{}${frame("{}")}`,
    gives: ["FramingError Cannot read header block: length is over 8192 bytes"],
    skip: NO_HEADER,
  })),
];

/** The end of the stream inside a message. */
const CUT_OFF: readonly FramingCase[] = [
  ...["C", "\xef\xbb", "Content-Length: 2\r\n"].map((part): FramingCase => ({
    does: `loses the stream that ends after ${shown(part)} of a header block`,
    input: (frame) => `${frame("{}")}${part}`,
    gives: [
      "{}",
      "FramingError Cannot read header block: stream ended after " +
      `${part.length} bytes`,
    ],
    skip: NO_HEADER,
  })),
  ...["", '{"a"'].map((part): FramingCase => ({
    does: `loses the stream that ends after ${part.length} of 10 bytes`,
    input: (frame) => `${frame("{}")}Content-Length: 10\r\n\r\n${part}`,
    gives: ["{}", ended(`${part.length} of 10`)],
    skip: NO_HEADER,
  })),
  {
    does: "loses the stream that ends inside a message that is too long",
    input: () => "Content-Length: 100000000000000\r\n\r\n{}",
    gives: [tooLong(1e14, 100_000), ended("2 of 100000000000000")],
    skip: NO_HEADER,
  },
];

/** All cases. */
export const FRAMING_CASES: readonly FramingCase[] = [
  ...MESSAGES,
  ...BAD_BODIES,
  ...LIMITS,
  ...GOOD_HEADERS,
  ...BAD_HEADERS,
  ...CUT_OFF,
];

/** Bytes as they can stand in the name of a test. */
function shown(bytes: string): string {
  return JSON.stringify(bytes).replace(
    /[\x7f-\xff]/g,
    (byte) => `\\x${byte.charCodeAt(0).toString(16)}`,
  );
}
