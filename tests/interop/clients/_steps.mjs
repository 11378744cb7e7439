/**
 * What every driver of a foreign client does with our server: the steps, what
 * each must show, and one line of JSON on stdout for each.
 *
 * A driver hands {@linkcode runSteps} a function that opens a session:
 * `{ revision, listTools(), callTool(name, args), close() }`, whose calls
 * reject with an error that carries the JSON-RPC `code`.
 *
 * @module
 */

// deno-lint-ignore-file explicit-function-return-type -- JavaScript has no types

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";

/** The driver's only argument: `{ folder, command, mode }`. */
export const config = JSON.parse(process.argv[2] ?? "{}");

const STEP_LIMIT_MS = 30_000;
/** The first of our tools, in their order. */
const TOOLS = [
  "conjugate",
  "lookup_irregular_verb",
  "lookup_spanish",
  "check_subject_verb_agreement",
];
const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };

/** Load a module of a package that is installed in `config.folder`. */
export async function load(specifier) {
  const path = createRequire(`${config.folder}/_`).resolve(specifier);
  const module = await import(pathToFileURL(path).href);
  return { ...module.default, ...module };
}

/**
 * Listen to what a transport carries, and return the list that it is written
 * to. Every SDK sets `transport.onmessage` and calls `transport.send`.
 */
export function tap(transport) {
  const messages = [];
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    messages.push({ direction: ">", message });
    return send(message, options);
  };
  let listener;
  Object.defineProperty(transport, "onmessage", {
    get: () =>
      listener && ((message, extra) => {
        messages.push({ direction: "<", message });
        listener(message, extra);
      }),
    set: (value) => {
      listener = value;
    },
  });
  return messages;
}

/** Read the revision that a session speaks off its messages. */
export function revisionOf(messages) {
  for (const { direction, message } of messages.toReversed()) {
    const { params, result } = message;
    const claimed = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
    if (direction === ">" && claimed !== undefined) return claimed;
    if (direction === "<" && result?.protocolVersion !== undefined) {
      return result.protocolVersion;
    }
  }
  return "?";
}

/** Run all steps; a step that fails does not keep the later ones from running. */
export async function runSteps(open) {
  let session;
  await step("handshake", async () => {
    session = await open();
    return { revision: session.revision };
  });
  if (session !== undefined) {
    const structured = session.revision >= "2025-06-18";
    await step("list", async () => {
      const tools = await session.listTools();
      const names = tools.map((tool) => tool.name);
      assert.deepEqual(names.slice(0, TOOLS.length), TOOLS);
    });
    await step("call", async () => {
      const result = await session.callTool("conjugate", EAT);
      assert.ok(!result.isError, "isError is true");
      assert.equal(textOf(result), "ate");
    });
    await step("object", async () => {
      const result = await session.callTool("lookup_irregular_verb", {
        verb: "go",
      });
      assert.equal(JSON.parse(textOf(result)).past_simple, "went");
      if (session.hidesStructured) return;
      assert.equal(
        result.structuredContent?.past_simple,
        structured ? "went" : undefined,
      );
    });
    await step("tool error", async () => {
      const result = await session.callTool("conjugate", {
        ...EAT,
        verb: "run",
      });
      assert.equal(result.isError, true);
      assert.notEqual(textOf(result), "");
    });
    await step("bad arguments", async () => {
      const call = () =>
        session.callTool("conjugate", { ...EAT, tense: "past" });
      if (session.revision < "2025-11-25") return await rejects(call, "tense");
      const result = await call();
      assert.equal(result.isError, true);
      assert.match(textOf(result), /tense/);
    });
    await step(
      "unknown tool",
      () =>
        rejects(
          () => session.callTool("no_such_tool", {}),
          "Unknown tool: 'no_such_tool'",
        ),
    );
    await step("end", () => session.close());
  }
  process.exit(0);
}

function textOf(result) {
  assert.equal(result.content?.length, 1);
  assert.equal(result.content[0].type, "text");
  return result.content[0].text;
}

async function rejects(call, text) {
  const outcome = await call().then(
    (result) => ({ result }),
    (error) => ({ error }),
  );
  assert.ok(outcome.error, `got a result: ${JSON.stringify(outcome.result)}`);
  if (outcome.error.code !== undefined) {
    assert.equal(outcome.error.code, -32602, outcome.error.message);
  } else assert.match(outcome.error.message, /-32602/);
  assert.ok(outcome.error.message.includes(text), outcome.error.message);
}

async function step(name, action) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no end after ${STEP_LIMIT_MS} ms`)),
      STEP_LIMIT_MS,
    );
  });
  let line;
  try {
    line = { step: name, ok: true, ...await Promise.race([action(), limit]) };
  } catch (error) {
    line = { step: name, ok: false, detail: String(error?.message ?? error) };
  }
  clearTimeout(timer);
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
