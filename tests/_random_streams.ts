/**
 * Random streams of good frames, bad ones and scraps, the same for the same
 * seed.
 *
 * @module
 */

import type { Framing } from "../framing.ts";
import { frameIn, utf8 } from "./_framing_cases.ts";

/** Numbers from 0 to 1 (mulberry32). */
export type Random = () => number;

/** Numbers that hang on the seed only. */
export function randomNumbers(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const BODIES = [
  "{}",
  '{"a":1}',
  "[[]]",
  '{ "a":\r1 } ',
  utf8('{"é":"漢🎉"}'),
  '{"a":"\xef\xbb\xbf"}',
  "\xef\xbb\xbf{}",
  "{}\r",
  "",
  " ",
  "5",
  "null",
  "{oops",
  '{"a":"\xff"}',
  "\xef\xbb",
  "\0",
  "x".repeat(17),
  `["${"x".repeat(30)}"]`,
];

const HEADERS: ((body: string) => string)[] = [
  (body) => `content-length:${body.length}\n\n`,
  (body) => `Content-Length: \t0${body.length} \r\n\r\n`,
  (body) => `X: y\r\nCONTENT-LENGTH : ${body.length}\r\n\n`,
  (body) => `Content-Length: ${body.length}\nContent-Length: 2\n\r\n`,
  (body) => `Content-Length: ${body.length - 1}\r\n\r\n`,
  (body) => `Content-Length: ${body.length + 1}\r\n\r\n`,
  () => "Content-Length: 99999999999999\r\n\r\n",
];

const SCRAPS = [
  "\xef\xbb\xbf",
  "\xef\xbb",
  "\xef",
  " ",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "\n\n",
  "\0",
  "\xff",
  "{",
  "]",
  '"',
  "-1",
  "X: y\r\n",
  "Content-Length: ",
];

/** A stream, a character for each byte, most of it in the framing. */
export function randomStream(random: Random, framing: Framing): string {
  const frame = frameIn(framing);
  const parts = Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
    const body = pick(BODIES, random);
    const kind = random();
    if (kind < 0.1) return pick(SCRAPS, random);
    if (kind < 0.2) return `\r\n${SCRAPS[0]}${frame(body)}`;
    if (kind < 0.3) return pick(HEADERS, random)(body) + body;
    return frame(body);
  });
  const stream = parts.join("");
  const at = Math.floor(random() * stream.length);
  const fate = random();
  if (fate < 0.2) return stream.slice(0, at);
  if (fate < 0.4) {
    return stream.slice(0, at) + pick(SCRAPS, random) + stream.slice(at + 1);
  }
  return stream;
}

/** Positions to cut a stream at: none, all, or some. */
export function randomCut(random: Random, length: number): number[] {
  const share = pick([0, 0.05, 0.3, 1], random);
  return Array.from({ length }, (_, at) => at).filter(() => random() < share);
}

function pick<T>(choices: readonly T[], random: Random): T {
  return choices[Math.floor(random() * choices.length)] as T;
}
