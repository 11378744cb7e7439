/**
 * Checks every message that the server writes against the schema of the
 * revision that it is written in. The messages are those of `transcripts/`,
 * which `transcript_test.ts` proves to be what the server writes.
 *
 * @module
 */

import { Validator } from "@cfworker/json-schema";
import { assertEquals, assertNotEquals } from "@std/assert";
import {
  newestHandshake,
  newestStateless,
  oldestRevision,
  type ProtocolVersion,
  revisions,
  statelessVersions,
} from "../protocol/revisions.ts";
import { registeredTools } from "../tools/mod.ts";
import { validateMessage } from "./interop/wire_schemas.ts";
import {
  readTranscripts,
  type Transcript,
} from "./transcripts/_transcripts.ts";

const CLAIM = "io.modelcontextprotocol/protocolVersion";

interface Asked {
  method?: string;
  revision: ProtocolVersion;
  tool?: string;
}

interface Written extends Asked {
  message: { result?: Record<string, unknown> };
}

const transcripts = readTranscripts();

for (const transcript of transcripts) {
  Deno.test(`what is written in ${transcript.name} is valid in its revision`, () => {
    for (const { revision, method, message } of writtenIn(transcript)) {
      assertEquals(
        validateMessage(revision, method, message),
        [],
        `${revision} ${method}: ${JSON.stringify(message)}`,
      );
    }
  });
}

Deno.test("structuredContent conforms to the outputSchema and is the text", () => {
  for (const { tool, message } of transcripts.flatMap(writtenIn)) {
    const { structuredContent, content } = message.result ?? {};
    if (structuredContent === undefined) continue;
    const schema = registeredTools.get(tool ?? "")?.outputSchema ?? false;
    const { errors } = new Validator(schema).validate(structuredContent);
    assertEquals(errors, []);
    const text = JSON.stringify(structuredContent);
    assertEquals(content, [{ type: "text", text }]);
  }
});

const text = [{ type: "text", text: "ate" }];
const cases: readonly [ProtocolVersion, string, Record<string, unknown>][] = [
  ["2025-11-25", "ping", { resultType: "complete" }],
  ["2024-11-05", "tools/call", { content: text, structuredContent: {} }],
  ["2025-11-25", "tools/call", { content: text, resultType: "complete" }],
  ["2025-11-25", "tools/call", { content: "ate" }],
  ["2026-07-28", "tools/call", { content: text }],
  ["2026-07-28", "tools/list", { resultType: "complete", tools: [] }],
  ["2025-03-26", "tools/list", {
    tools: [{ name: "x", title: "X", inputSchema: { type: "object" } }],
  }],
  ["2025-06-18", "server/discover", {}],
];
for (const [revision, method, result] of cases) {
  Deno.test(`validateMessage() refuses ${JSON.stringify(result)} for ${method} in ${revision}`, () => {
    const message = { jsonrpc: "2.0", id: 0, result };
    assertNotEquals(validateMessage(revision, method, message), []);
  });
}

/** Each message from the server, with what it answers. */
function writtenIn({ exchanges }: Transcript): Written[] {
  let session = oldestRevision.protocolVersion;
  const asked = new Map<unknown, Asked>();
  return exchanges.flatMap(({ sent, answers }) => {
    for (const request of entries(sent)) {
      asked.set(request.id, {
        method: request.method,
        revision: claimedBy(request.params?._meta?.[CLAIM]) ?? session,
        tool: request.params?.name,
      });
    }
    return answers.flatMap(entries).map((message) => {
      const version = message.result?.protocolVersion;
      if (version !== undefined) session = servedBy(version);
      const { revision = session, ...rest } = asked.get(message.id) ?? {};
      const initialized = version === undefined ? revision : session;
      return { ...rest, revision: initialized, message };
    });
  });
}

/** The revision by whose rules a claim is answered, if there is one: any, where it is refused. */
function claimedBy(claim: unknown): ProtocolVersion | undefined {
  return claim === undefined
    ? undefined
    : statelessVersions.find((version) => version === claim) ??
      newestStateless.protocolVersion;
}

/** The revision whose rules follow an `initialize` that this version answers. */
function servedBy(version: string): ProtocolVersion {
  const { opening, protocolVersion } = revisions.get(version) ?? oldestRevision;
  return opening === "handshake"
    ? protocolVersion
    : newestHandshake.protocolVersion;
}

// deno-lint-ignore no-explicit-any -- messages of any shape, malformed ones too
function entries(json: string): any[] {
  try {
    const value = JSON.parse(json);
    return (Array.isArray(value) ? value : [value]).filter((entry) =>
      typeof entry === "object" && entry !== null
    );
  } catch {
    return []; // a transcript may send what is not JSON
  }
}
