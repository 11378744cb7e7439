/**
 * The limits that README.md tells, with each figure as the source has it.
 *
 * @module
 */

import { assert } from "@std/assert";
import { MAX_TIMEOUT_MS } from "../runtime/client_options.ts";
import { readme, readText, ROOT } from "./_readme.ts";

/** All the source, as one text; empty where it may not be read. */
export const sources: string = readme === "" ? "" : await readSources();

async function readSources(): Promise<string> {
  let text = "";
  for (const folder of ["", "protocol/", "runtime/", "tools/"]) {
    for await (const { name } of Deno.readDir(ROOT + folder)) {
      if (name.endsWith(".ts")) text += await readText(folder + name);
    }
  }
  return text;
}

const told = new Set<string>();

/** The value of a constant, or the default of an option, as the source has it. */
function figure(name: string): number {
  told.add(name);
  const pattern = `\\b${name}(?:: number)? (?:=|\\?\\?) ([\\d_ *-]+)`;
  const [, text] = new RegExp(pattern).exec(sources) ?? [];
  assert(text !== undefined, `The source has no figure ${name}`);
  const product = (term: string): number =>
    term.split(" * ").map((factor) =>
      factor.split(" ** ").map(Number).reduce((base, power) => base ** power)
    ).reduce((a, b) => a * b);
  return text.trim().replaceAll("_", "").split(" - ").map(product)
    .reduce((a, b) => a - b);
}

const count = (name: string): string => figure(name).toLocaleString("en");
const seconds = (name: string): string => `${figure(name) / 1000} s`;

/** A power of two, in `Ki` or `Mi`. */
function binary(name: string): string {
  const value = figure(name);
  return value % 2 ** 20 === 0 ? `${value / 2 ** 20} Mi` : `${value / 1024} Ki`;
}

/** README.md's table of limits. */
export function limitRows(): string[][] {
  told.add("MAX_TIMEOUT_MS");
  const ms = `${MAX_TIMEOUT_MS.toLocaleString("en")} ms`;
  return [
    ["what", "limit", "past it"],
    [
      "a message that is read",
      `${binary("DEFAULT_MAX_MESSAGE_BYTES")}B; \`--max-message-bytes\` and ` +
      `\`maxMessageBytes\` set it, to ${count("MAX_STRING_LENGTH")} at most`,
      "skipped: `-32600` by the server, a `ProtocolError` at the client",
    ],
    [
      "answers that nobody has taken",
      "as a message",
      "the server stops reading until they are taken",
    ],
    [
      "a header block",
      `${binary("MAX_HEADER_BYTES")}B, ` +
      `its length ${count("MAX_LENGTH_DIGITS")} digits`,
      "a framing error: the stream is lost",
    ],
    [
      "arguments, nested",
      `${count("MAX_DEPTH")} levels; far fewer where a \`$ref\` recurs`,
      "`-32603`, or a `ProtocolError` before anything is sent",
    ],
    [
      "faults named in one message",
      `${count("MAX_LISTED")}; of more than ${
        count("MAX_EXPLAINED")
      } values, ` +
      "the first fault only",
      "the others are counted, or not looked for",
    ],
    [
      "the answers to a batch",
      `${binary("MAX_BATCH_CHARACTERS")} characters`,
      "`-32600`, and the rest is not run",
    ],
    ["subscriptions held", count("MAX_SUBSCRIPTIONS"), "`-32603`"],
    [
      "a list of tools",
      `${count("MAX_PAGES")} pages, ` +
      `${binary("MAX_LIST_CHARACTERS")} characters`,
      "a `ProtocolError`",
    ],
    [
      "the wait for an answer",
      `${seconds("requestTimeoutMs")}; \`--timeout\`, \`requestTimeoutMs\` ` +
      `and \`timeoutMs\` set it, to ${ms} at most`,
      "a `TransportError`; a call is cancelled (our server ends its tool first)",
    ],
    [
      "the wait for an answer to `auto`'s probe",
      seconds("PROBE_TIMEOUT_MS"),
      "the handshake",
    ],
    [
      "the wait for a server to exit",
      `${seconds("closeTimeoutMs")}; \`closeTimeoutMs\` sets it`,
      `SIGTERM, and ${seconds("SIGTERM_TIMEOUT_MS")} later SIGKILL`,
    ],
    [
      "a tool under way when the input ends",
      seconds("GRACE_MS"),
      "given up: `-32603` and a WARNING",
    ],
    [
      "the text of a log line",
      `${count("MAX_TEXT_CHARACTERS")} characters`,
      "cut, and its length said",
    ],
    [
      "log lines that nobody has read",
      `${binary("MAX_WAITING_CHARACTERS")} characters`,
      "dropped, and their number said",
    ],
    [
      "a line of a server's stderr",
      `${count("MAX_LINE_CHARACTERS")} characters; ` +
      `errors show the last ${count("MAX_LAST_LINES")} lines`,
      "cut, and the length of the rest said",
    ],
  ];
}

/** Bounds that no user meets as such, and why README.md does not tell them. */
const UNTOLD: Record<string, string> = {
  DRAIN_TIMEOUT_MS: "the end of a pipe after its process",
  EXIT_TIMEOUT_MS: "the end of a process after its pipe",
  FLUSH_MS: "the last log lines at an exit",
  MAX_ALTERNATIVES: "the wording of a message",
  MAX_LEVELS: "how deep types are shown",
  MAX_QUOTED_CHARACTERS: "the wording of a message",
  MAX_REFS_PER_VALUE: "more than any schema needs that ends",
  MAX_SCRATCH_CHARACTERS: "how text is copied",
  MAX_SHOWN: "the wording of a message",
  MAX_STRETCH_MS: "how long the event loop is held",
  MAX_UNSENT_BYTES: "answers to a server's flood of requests",
  MAX_WORD_CHARACTERS: "no word is that long",
  SIGKILL_TIMEOUT_MS: "SIGKILL does not fail",
};

/** The bounds in the source that neither the table nor {@linkcode UNTOLD} has. */
export function forgottenBounds(): string[] {
  limitRows();
  const bounds = sources.matchAll(/^(?:export )?const (\w*(?:MAX_|_MS)\w*)/gm);
  return [...bounds].map(([, name = ""]) => name)
    .filter((name) => !told.has(name) && !Object.hasOwn(UNTOLD, name));
}
