/**
 * Reads the transcripts: `<revision>/<topic>.txt`, a first line that says why,
 * then `> ` before each message to the server and `< ` before each from it.
 * A topic that begins with `strict_` is played with `strict` on.
 *
 * @module
 */

/** One message to the server, and what it must write before the next one. */
export interface Exchange {
  /** What is sent, as it is on the wire but for the framing. */
  sent: string;
  /** What comes back; after the last message, what the end of input brings too. */
  answers: string[];
}

/** One file. */
export interface Transcript {
  /** `<revision>/<topic>`. */
  name: string;
  /** Where it lies. */
  url: URL;
  /** The revision that its folder is named after. */
  revision: string;
  /** Why it is there. */
  why: string;
  /** Whether the server is strict. */
  strict: boolean;
  /** What is said. */
  exchanges: Exchange[];
}

/**
 * Read every transcript.
 *
 * @returns They, by revision and topic; none where reading is not permitted.
 */
export function readTranscripts(): Transcript[] {
  const base = new URL("./", import.meta.url);
  const granted = Deno.permissions.querySync({ name: "read", path: base });
  if (granted.state !== "granted") return [];
  return entries(base).filter(({ isDirectory }) => isDirectory).flatMap(
    ({ name: revision }) => {
      const folder = new URL(`${revision}/`, base);
      return entries(folder).map(({ name }) =>
        parse(revision, name.replace(".txt", ""), new URL(name, folder))
      );
    },
  );
}

/**
 * Write a transcript back.
 *
 * @param transcript What its file shall hold.
 */
export function writeTranscript({ url, why, exchanges }: Transcript): void {
  const lines = exchanges.flatMap(({ sent, answers }) => [
    `> ${sent}`,
    ...answers.map((answer) => `< ${answer}`),
  ]);
  Deno.writeTextFileSync(url, `${[why, ...lines].join("\n")}\n`);
}

function entries(folder: URL): Deno.DirEntry[] {
  return [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1);
}

function parse(revision: string, topic: string, url: URL): Transcript {
  const [why = "", ...lines] = Deno.readTextFileSync(url).trimEnd().split("\n");
  const exchanges: Exchange[] = [];
  for (const line of lines) {
    if (line.startsWith("> ")) {
      exchanges.push({ sent: line.slice(2), answers: [] });
      continue;
    }
    const last = exchanges.at(-1);
    if (last === undefined || !line.startsWith("< ")) {
      throw new Error(`Cannot read ${url}: line is ${JSON.stringify(line)}`);
    }
    last.answers.push(line.slice(2));
  }
  const name = `${revision}/${topic}`;
  const strict = topic.startsWith("strict_");
  return { name, url, revision, why, strict, exchanges };
}
