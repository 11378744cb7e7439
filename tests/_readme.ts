/**
 * README.md as a program reads it: its sections, tables and fences, and the
 * parts of it that are computed.
 *
 * @module
 */

import { assert } from "@std/assert";

export const ROOT: string = import.meta.dirname + "/../";
const README = ROOT + "README.md";
const LIMIT_MS = 120_000;

/** A stretch of README.md that a program can compute, with what it should be. */
export interface Part {
  name: string;
  start: number;
  end: number;
  make: () => string | Promise<string>;
}

/** A fence: the language and what follows it, the lines inside, where it stands. */
export interface Fence {
  info: string;
  text: string;
  start: number;
  end: number;
}

export const readme: string = await readText("README.md");

/** A file of the checkout; empty where it may not be read. Git may have put in CRLF. */
export async function readText(file: string): Promise<string> {
  const path = ROOT + file;
  const { state } = Deno.permissions.querySync({ name: "read", path });
  if (state !== "granted") return "";
  return (await Deno.readTextFile(path)).replaceAll("\r\n", "\n");
}

/** The fences of README.md, in its order; those of one language if it is named. */
export function fences(info?: string): Fence[] {
  const all = [...readme.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map((match) => ({
    info: match[1] ?? "",
    text: match[2] ?? "",
    start: match.index,
    end: match.index + match[0].length,
  }));
  return all.filter((fence) => info === undefined || fence.info === info);
}

/** A section's text, without its heading. */
export function section(heading: string): string {
  const { start, end } = findSection(heading);
  return readme.slice(start, end);
}

function findSection(heading: string): { start: number; end: number } {
  const title = `\n## ${heading}\n`;
  const at = readme.indexOf(title);
  assert(at >= 0, `README.md has no section "${heading}"`);
  const start = at + title.length;
  const next = readme.indexOf("\n## ", start);
  return { start, end: next < 0 ? readme.length : next };
}

/** A table of a section, the first unless another is counted to. */
export function tablePart(
  heading: string,
  make: () => string[][] | Promise<string[][]>,
  index = 0,
): Part {
  const name = `${heading}, table ${index + 1}`;
  const { start } = findSection(heading);
  const tables = [...section(heading).matchAll(/^\|.*(?:\n\|.*)*/gm)];
  const match = tables[index];
  assert(match !== undefined, `README.md lacks ${name}`);
  const from = start + match.index;
  return {
    name,
    start: from,
    end: from + match[0].length,
    make: async () => table(await make()),
  };
}

function table([head = [], ...body]: string[][]): string {
  return [head, head.map(() => "---"), ...body]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Without the padding that `deno fmt` gives to cells. */
export function squeeze(text: string): string {
  return text.replace(/ *\| */g, "|").replace(/-{3,}/g, "---");
}

/** The fence without a language after each `sh` fence is what its commands print. */
export function outputParts(
  run: (commands: string[]) => Promise<string>,
): Part[] {
  return fences("sh").map(({ text, end }) => {
    const commands = text.trimEnd().split("\n");
    const shown = /^\n\n```\n[^]*?^```$/m.exec(readme.slice(end));
    const length = shown?.index === 0 ? shown[0].length : 0;
    return {
      name: commands.join("; "),
      start: end,
      end: end + length,
      make: async () => {
        const output = abridge(await run(commands));
        return output === "" ? "" : `\n\n\`\`\`\n${output}\n\`\`\``;
      },
    };
  });
}

const MAX_COLUMNS = 76;
const FIRST_LINES = 4;
const LAST_LINES = 2;

/** Long lines and the middle of long outputs are cut, at `…`. */
function abridge(output: string): string {
  const lines = output.trimEnd().split("\n").map((line) =>
    line.length > MAX_COLUMNS ? `${line.slice(0, MAX_COLUMNS)}…` : line
  );
  if (lines.length > FIRST_LINES + LAST_LINES + 1) {
    lines.splice(FIRST_LINES, lines.length - FIRST_LINES - LAST_LINES, "…");
  }
  return lines.join("\n");
}

/** Put in what the parts should be. */
export async function rewrite(parts: readonly Part[]): Promise<void> {
  let text = readme;
  for (const part of parts.toSorted((a, b) => b.start - a.start)) {
    text = text.slice(0, part.start) + await part.make() + text.slice(part.end);
  }
  await Deno.writeTextFile(README, text);
  await runProgram(["deno", "fmt", "--quiet", README]);
}

/** What the examples need of the checkout, where they may write. */
export async function copyCheckout(): Promise<
  { path: string } & AsyncDisposable
> {
  const path = await Deno.makeTempDir();
  await copyFolder(ROOT, path);
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

const LEFT_OUT =
  /^\.|^(?:bench|coverage|dist|node_modules|tests)$|^my_\w+\.ts$/;

async function copyFolder(from: string, to: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (LEFT_OUT.test(name)) continue;
    if (isDirectory) {
      await Deno.mkdir(`${to}/${name}`);
      await copyFolder(`${from}/${name}`, `${to}/${name}`);
    } else {
      await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
    }
  }
}

/** Run a program that should succeed; gives what it prints. */
export async function runProgram(
  [program = "", ...args]: string[],
  cwd: string = ROOT,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    stdin: "null",
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(LIMIT_MS),
  }).output();
  const decoder = new TextDecoder();
  assert(success, `${args.join(" ")}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
