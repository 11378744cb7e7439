/**
 * Properties of `MCPClient`: whatever the server writes, and however it ends.
 *
 * The servers are shell scripts, which start in a millisecond.
 *
 * @module
 */

import fc from "npm:fast-check@4.11.0";
import { assert, assertLess } from "@std/assert";
import {
  MCPClient,
  type MCPClientOptions,
  ProtocolError,
  ToolError,
  TransportError,
} from "../../client.ts";
import type { Framing } from "../../framing.ts";
import { FRAMINGS } from "../../protocol/_framers.ts";
import {
  PROTOCOL_VERSIONS,
  statelessVersions,
} from "../../protocol/revisions.ts";
import { frameIn } from "../_framing_cases.ts";
import { type Property, property } from "./_property.ts";

/** What a good server says, in the order of the client's requests. */
const GOOD = [
  `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"supportedVersions":${
    JSON.stringify(statelessVersions)
  }}}`,
  '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}',
  '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"1"}]}}',
];

/** What else servers say. */
const ODD = [
  '{"jsonrpc":"2.0","id":"p","method":"ping"}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}',
  '{"jsonrpc":"2.0","id":0,"result":null}',
  '{"jsonrpc":"2.0","id":"0","result":{}}',
  '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"__proto__","inputSchema":{"$ref":"file:///etc/passwd"}}],"nextCursor":""}}',
  '{"jsonrpc":"2.0","id":1,"result":{"tools":{"__proto__":[]}}}',
  '{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}',
  '{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required"}}',
  '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}',
  '{"jsonrpc":"2.0","id":null,"error":{"code":"x"}}',
  '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
  '{"id":0}',
  "[]",
  "[1,null]",
  "5",
  "{oops",
];

/** What a server does, a shell command each. */
const steps = (framing: Framing): fc.Arbitrary<string> =>
  fc.oneof(
    {
      arbitrary: fc.constantFrom(...GOOD, ...ODD).map(frameIn(framing)),
      weight: 5,
    },
    fc.string({
      unit: fc.nat({ max: 255 }).map((byte) => String.fromCharCode(byte)),
      maxLength: 30,
    }),
    fc.constantFrom("Content-Length: 99\r\n\r\n", "starting v1\n", "\n", "{"),
  ).map(printing);

/** A shell's way to wait for a message: as many lines as a frame has, its last one aside if it has no end. */
const READS: Record<Framing, string> = {
  "content-length": "read x; read x",
  "newline": "read x",
};

/** Good answers, each after a request has come, and then anything. */
const plans = (framing: Framing): fc.Arbitrary<string[]> =>
  fc.tuple(
    fc.nat({ max: GOOD.length }),
    fc.array(
      fc.oneof(steps(framing), fc.constantFrom("sleep 0.01", "read x")),
      {
        maxLength: 5,
      },
    ),
    endings,
  ).map(([served, rest, end]) => [
    ...GOOD.slice(0, served).flatMap((answer) => [
      READS[framing],
      printing(frameIn(framing)(answer)),
    ]),
    ...rest,
    end,
  ]);

const endings = fc.oneof(
  fc.nat({ max: 255 }).map((code) => `exit ${code}`),
  fc.constantFrom("KILL", "TERM", "SEGV").map((name) => `kill -${name} $$`),
  fc.constantFrom(
    ...[
      "exec cat >/dev/null",
      "exec >&-; exec cat >/dev/null",
      "exec <&-; sleep 0.2",
    ],
    ...["trap '' TERM; exec >&- 2>&-; exec sleep 9", "echo last >&2; exit 1"],
  ),
);

/** A command that prints bytes, of which the string has a character for each. */
function printing(bytes: string): string {
  const octal = Array.from(
    bytes,
    (byte) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `printf %b '${octal.join("")}'`;
}

/** The pids of the servers are their first words. */
async function session(
  plan: readonly string[],
  options: MCPClientOptions,
): Promise<number[]> {
  const pids: number[] = [];
  const command = ["sh", "-c", ["echo pid $$ >&2", ...plan].join("\n")];
  await using client = new MCPClient(command, {
    ...options,
    requestTimeoutMs: 100,
    closeTimeoutMs: 50,
    logLevel: "ERROR",
    onStderr: (line) => {
      const pid = /^pid (\d+)$/.exec(line)?.[1];
      if (pid !== undefined) pids.push(Number(pid));
    },
  });
  try {
    await client.initialize();
    await client.listTools();
    await client.callTool("a", {});
    await client.callTool("a", { b: 1 });
  } catch (error) {
    const isKnown = error instanceof ToolError ||
      error instanceof ProtocolError || error instanceof TransportError;
    if (!isKnown) throw error;
    assert(error.message.length > 0);
  }
  return pids;
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

const framings = fc.constantFrom(...FRAMINGS);

/** 3 × 0.1 s of requests, 0.5 s to learn of an exit, and 0.05 s + 1 s + 1 s to end it; and a slow machine. */
const MOST_MS = 10_000;

const ends = property(
  "MCPClient gives a value or one of its errors, in time, whatever the server writes, and leaves no process",
  12,
  fc.asyncProperty(
    framings.chain((framing) => fc.tuple(fc.constant(framing), plans(framing))),
    fc.constantFrom<MCPClientOptions["protocolVersion"]>(
      ...PROTOCOL_VERSIONS,
    ),
    async ([framing, plan], protocolVersion) => {
      const started = performance.now();
      const pids = await session(plan, { framing, protocolVersion });
      assertLess(performance.now() - started, MOST_MS);
      const left = pids.filter(isAlive);
      assert(left.length === 0, `processes are left: ${left}`);
    },
  ),
);

const probes = property(
  'MCPClient with "auto" gives a value or one of its errors where the server exits at any point',
  12,
  fc.asyncProperty(
    framings.chain((framing) =>
      fc.tuple(fc.constant(framing), plans(framing), fc.nat({ max: 3 }))
    ),
    async ([framing, plan, code]) => {
      // What stays silent is waited for 2 s, so these all end.
      const ended = [...plan.slice(0, -1), `exit ${code}`];
      const pids = await session(ended, { framing, protocolVersion: "auto" });
      assert(!pids.some(isAlive), `processes are left: ${pids}`);
    },
  ),
);

/** All of them. */
export const clientProperties: readonly Property[] = [ends, probes]
  .map((property) => ({ ...property, needs: "run" }));
