/**
 * Reads `input.bin`, `output.bin` and `stderr.log`, and writes what they hold:
 * `output.annotated.txt`, `results.json` and `manifest.json`.
 *
 * @module
 */

import { encodeMessage, MessageReader, readMessage } from "../../mod.ts";
import { writeJSON, writeManifest } from "../_manifest.ts";

/** As much of a message as the session's messages have. */
interface Message {
  id?: number;
  method?: string;
  params?: { name?: string; arguments?: unknown };
  result?: {
    protocolVersion?: string;
    capabilities?: object;
    tools?: { name: string }[];
    content?: { text: string }[];
    isError?: boolean;
  };
  error?: unknown;
}

/** A message and where in the file it lies. */
interface Frame {
  message: Message;
  body: string;
  start: number;
  end: number;
}

/**
 * Write the report of a session, and print it in one line.
 *
 * @param folder Where the session's files lie, and where the report goes.
 * @returns Whether every request was answered and none failed.
 */
export async function report(folder: string): Promise<boolean> {
  const sent = await readFrames(`${folder}/input.bin`);
  const answers = await readFrames(`${folder}/output.bin`);
  const log = await Deno.readTextFile(`${folder}/stderr.log`);
  const results = {
    frames_in: sent.length,
    frames_out: answers.length,
    all_success: allSucceeded(sent, answers) && !/^ERROR /m.test(log),
  };
  await Deno.writeTextFile(
    `${folder}/output.annotated.txt`,
    annotate(sent, answers),
  );
  await writeJSON(`${folder}/results.json`, results);
  await writeManifest(folder, {
    experiment: "31-mcp-server-smoke",
    protocol: String(answers[0]?.message.result?.protocolVersion),
    artefacts: [
      "input.bin",
      "output.bin",
      "stderr.log",
      "output.annotated.txt",
      "results.json",
    ],
  });
  // deno-lint-ignore no-console -- this program's stdout is for a person
  console.log(JSON.stringify(results));
  return results.all_success;
}

async function readFrames(path: string): Promise<Frame[]> {
  const file = await Deno.readFile(path);
  const reader = new MessageReader(new Blob([file]).stream());
  const frames: Frame[] = [];
  let start = 0;
  for (;;) {
    const message = await readMessage(reader);
    if (message === null) break;
    const end = start + encodeMessage(message, "content-length").length;
    frames.push({ message, body: JSON.stringify(message), start, end });
    start = end;
  }
  if (start !== file.length) {
    throw new Error(
      `Cannot report on ${path}: its frames are ${start} bytes, ` +
        `the file is ${file.length} bytes`,
    );
  }
  return frames;
}

function allSucceeded(sent: Frame[], answers: Frame[]): boolean {
  const asked = sent.map(({ message }) => message.id)
    .filter((id) => id !== undefined);
  return asked.join() === answers.map(({ message }) => message.id).join() &&
    answers.every(({ message: { result } }) =>
      result !== undefined && result.isError !== true
    );
}

function annotate(sent: Frame[], answers: Frame[]): string {
  const unasked = sent.filter(({ message }) => message.id === undefined)
    .map(({ message }) => `# "${message.method}" has no id: no answer.\n`);
  const frames = answers.map((frame, index) => {
    const request = sent.find(({ message }) => message.id === frame.message.id);
    return `# Frame ${index + 1}, ${sizes(frame)}.\n` +
      `# ${explain(request?.message ?? {}, frame.message)}.\n` +
      `Content-Length: ${bytesOf(frame.body)}\\r\\n\\r\\n\n${frame.body}\n`;
  });
  return `# output.bin: ${answers.length} frames, ` +
    `${
      answers.at(-1)?.end ?? 0
    } bytes, for ${sent.length} frames in input.bin.\n` +
    `# Each is a header, an empty line (the two \\r\\n are the bytes 13 10 13 10)\n` +
    `# and a body with no line end after it. Its length counts bytes.\n` +
    `${unasked.join("")}\n${frames.join("\n")}`;
}

function sizes({ body, start, end }: Frame): string {
  const bodyBytes = bytesOf(body);
  return `bytes ${start} to ${end - 1}: header ${end - start - bodyBytes} ` +
    `bytes, body ${bodyBytes} bytes (${body.length} characters)`;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function explain(request: Message, answer: Message): string {
  const { method, params } = request;
  const { id, result, error } = answer;
  const what = `Answers "${method}" (id ${id})`;
  if (result === undefined) return `${what} with ${JSON.stringify(error)}`;
  const { protocolVersion, capabilities = {}, tools, content } = result;
  if (tools !== undefined) {
    const names = tools.map(({ name }) => name).join(", ");
    return `${what}: ${tools.length} tools, ${names}`;
  }
  if (content !== undefined) {
    const texts = content.map(({ text }) => JSON.stringify(text)).join(", ");
    return `${what}: ${params?.name} of ${JSON.stringify(params?.arguments)} ` +
      `${result.isError ? "refuses" : "is"} ${texts}`;
  }
  return `${what}: the session speaks ${protocolVersion}, the server offers ` +
    Object.keys(capabilities).join(", ");
}

if (import.meta.main) {
  const succeeded = await report(Deno.args[0] ?? import.meta.dirname ?? ".");
  if (!succeeded) Deno.exitCode = 1;
}
