/**
 * A server that misbehaves in one way, chosen by its first argument: a program
 * for the client's tests. It speaks whichever framing it is spoken to in.
 *
 * Apart from its one fault it is a good server of one tool, `send`, that writes
 * the `messages` in its arguments just so, with the id of the call where a
 * message says `"id": "ID"`.
 *
 * @module
 */

import {
  encodeMessage,
  type Framing,
  MessageReader,
  readMessage,
} from "../framing.ts";
import { statelessVersions } from "../protocol/revisions.ts";

interface Request {
  id?: number;
  method: string;
  params: Record<string, unknown>;
}

interface Behaviour {
  /** Done before anything is read. */
  start?: () => unknown;
  /** Done in place of the good answer to a method. */
  methods?: Record<string, (request: Request) => unknown>;
  /** Done once stdin has ended. */
  end?: () => unknown;
}

const MIB = 1024 * 1024;
const TOOL = {
  name: "send",
  description: "Send messages",
  inputSchema: { type: "object" },
};
const DISCOVERED = {
  resultType: "complete",
  supportedVersions: statelessVersions,
  capabilities: { tools: {} },
};

const behaviours: Record<string, Behaviour> = {
  "good": {},

  "flood-lines": { start: () => complain(`${"x".repeat(63)}\n`, 2 * MIB) },
  "flood-line": { start: () => complain("x".repeat(64), 2 * MIB) },
  "flood-progress": { start: () => complain(`${"x".repeat(63)}\r`, 2 * MIB) },
  "flood-always": {
    start: () => complain(`${"x".repeat(63)}\n`, MIB),
    methods: {
      "tools/list": (request) => {
        complain(`${"y".repeat(63)}\n`, MIB);
        answer(request, { tools: [TOOL] });
      },
    },
    end: () => complain(`${"z".repeat(63)}\n`, MIB),
  },
  "long-line": {
    start: () => {
      complain("é".repeat(1000), 20_000_000);
      complain("\nafter\n", 1);
    },
  },

  "ignore-eof": { end: linger },
  "ignore-sigterm": {
    start: () => Deno.addSignalListener("SIGTERM", () => {}),
    end: linger,
  },
  "fail-at-end": { end: () => die(7, "bad end") },
  "exit-at-start": { start: () => die(3, "no key") },
  "exit-at-initialize": { methods: { "initialize": () => die(4, "no luck") } },
  "exit-in-call": {
    methods: { "tools/call": () => die(5, "first\nsecond") },
  },
  "killed-in-call": { methods: { "tools/call": () => Deno.kill(Deno.pid) } },
  "answer-and-exit": {
    methods: {
      "tools/call": (request) => {
        answer(request, { content: [{ type: "text", text: "last" }] });
        Deno.exit(0);
      },
    },
  },
  "exit-in-frame": {
    methods: {
      "tools/call": (request) => {
        writeBytes(frame({ id: request.id, result: {} }).subarray(0, 25));
        Deno.exit(6);
      },
    },
  },

  "noise": {
    start: () => writeText("Starting v1…\n\n42\n"),
    methods: {
      "tools/list": (request) => {
        writeText("[debug] listing\n{not json\n");
        answer(request, { tools: [TOOL] });
        writeText("null\n\u001b[31mred\n");
      },
    },
  },
  "not-framed": {
    methods: { "initialize": () => writeText("Content-Length: none\r\n\r\n") },
  },
  "babble": {
    methods: {
      "initialize": () => {
        for (;;) writeText("Hello. ".repeat(1000));
      },
    },
  },
  "mute": { methods: { "initialize": () => {} } },
  "mute-in-call": { methods: { "tools/call": () => {} } },
  "late": {
    methods: {
      "tools/call": async (request) => {
        const { delayMs } = request.params["arguments"] as { delayMs: number };
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        const text = `after ${delayMs}`;
        answer(request, { content: [{ type: "text", text }] });
      },
    },
  },
  "greet-first": {
    methods: {
      "initialize": (request) => {
        write({ method: "notifications/message", params: { data: "hello" } });
        write({ id: "a", method: "ping" });
        write({ id: "b", method: "sampling/createMessage", params: {} });
        initialize(request);
      },
    },
  },
  "dribble": {
    methods: {
      "tools/call": async (request) => {
        const content = [{ type: "text", text: "é—漢🎉" }];
        for (const byte of frame({ id: request.id, result: { content } })) {
          writeBytes(Uint8Array.of(byte));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      },
    },
  },
  "deaf": { methods: { "tools/list": deafen } },

  "pages": {
    methods: {
      "tools/list": (request) => {
        const cursors = [undefined, "", "b", "c"];
        const at = cursors.indexOf(request.params["cursor"] as string);
        const nextCursor = cursors[at + 1] ?? null;
        answer(request, { tools: [{ ...TOOL, name: `t${at}` }], nextCursor });
      },
    },
  },
  "cursor-loop": {
    methods: {
      "tools/list": (request) => {
        const nextCursor = request.params["cursor"] === "a" ? "b" : "a";
        answer(request, { tools: [TOOL], nextCursor });
      },
    },
  },
  "endless-list": {
    methods: {
      "tools/list": (request) =>
        answer(request, { tools: [], nextCursor: `after ${request.id}` }),
    },
  },
  "list-of": {
    methods: {
      "tools/list": (request) =>
        answer(request, JSON.parse(Deno.args[1] ?? "{}")),
    },
  },

  "initialize-with": {
    methods: {
      "initialize": (request) =>
        answer(request, JSON.parse(Deno.args[1] ?? "{}")),
    },
  },
  "discover-with": {
    methods: {
      "server/discover": (request) =>
        answer(request, JSON.parse(Deno.args[1] ?? "{}")),
    },
  },
  "stateless-only": {
    methods: {
      "initialize": (request) => refuse(request, "Unsupported"),
      "server/discover": (request) => answer(request, DISCOVERED),
    },
  },
  "exit-on-probe": {
    methods: { "server/discover": () => die(8, "expected initialize") },
  },
  "refuse-probe-and-exit": {
    methods: {
      "server/discover": (request) => {
        refuse(request, "expected initialize");
        die(8, "expected initialize");
      },
    },
  },
  "late-probe": {
    methods: {
      "server/discover": (request) => {
        probe = request;
      },
      "initialize": (request) => {
        if (probe !== undefined) answer(probe, DISCOVERED);
        initialize(request);
      },
    },
  },
  "request-in-stateless": {
    methods: {
      "server/discover": (request) => answer(request, DISCOVERED),
      "tools/list": (request) => {
        write({ id: "a", method: "ping" });
        answer(request, { tools: [TOOL] });
      },
    },
  },
};

let probe: Request | undefined;
let framing: Framing = "newline";

const good: Record<string, (request: Request) => unknown> = {
  "initialize": initialize,
  "tools/list": (request) => answer(request, { tools: [TOOL] }),
  "tools/call": (request) => {
    const { messages } = request.params["arguments"] as { messages: object[] };
    for (const message of messages) {
      const isOurs = "id" in message && message.id === "ID";
      write(isOurs ? { ...message, id: request.id } : message);
    }
  },
};

await run(behaviours[Deno.args[0] ?? "good"] ?? die(99, "no such behaviour"));

async function run(behaviour: Behaviour): Promise<void> {
  await behaviour.start?.();
  const reader = new MessageReader(Deno.stdin.readable);
  for (;;) {
    const message = await readMessage(reader) as Request | null;
    if (message === null) break;
    framing = reader.framing ?? framing;
    const method = behaviour.methods?.[message.method] ?? good[message.method];
    if (method !== undefined) await method(message);
    else if (message.method?.includes("/discover")) refuse(message, "Unknown");
  }
  await behaviour.end?.();
}

function initialize(request: Request): void {
  answer(request, {
    protocolVersion: request.params["protocolVersion"],
    capabilities: { tools: {} },
    serverInfo: { name: "bad", version: "1" },
  });
}

function answer({ id }: Request, result: unknown): void {
  write({ id, result });
}

function refuse({ id }: Request, message: string): void {
  write({ id, error: { code: -32601, message } });
}

function write(message: object): void {
  writeBytes(frame(message));
}

function frame(message: object): Uint8Array {
  return encodeMessage({ jsonrpc: "2.0", ...message }, framing);
}

function writeText(text: string): void {
  writeBytes(new TextEncoder().encode(text));
}

function writeBytes(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    at += Deno.stdout.writeSync(bytes.subarray(at));
  }
}

/** Write a text to stderr until it fills so many bytes, waiting for the reader. */
function complain(text: string, length: number): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < length; written += bytes.length) {
    for (let at = 0; at < bytes.length;) {
      at += Deno.stderr.writeSync(bytes.subarray(at));
    }
  }
}

function die(code: number, reason: string): never {
  complain(`${reason}\n`, 1);
  Deno.exit(code);
}

function linger(): Promise<never> {
  setInterval(() => {}, 1000);
  return new Promise(() => {});
}

function deafen(request: Request): Promise<never> {
  answer(request, { tools: [TOOL] });
  return linger();
}
