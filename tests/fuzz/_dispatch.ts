/**
 * Properties of `dispatch` and `serve`: whatever the JSON, one answer to each
 * request and none to anything else.
 *
 * @module
 */

import fc from "npm:fast-check@4.11.0";
import { assert, assertEquals } from "@std/assert";
import type { JSONRPCMessage, RequestId } from "../../protocol/jsonrpc.ts";
import { FRAMINGS } from "../../protocol/_framers.ts";
import {
  oldestRevision,
  PROTOCOL_VERSIONS,
  statelessVersions,
} from "../../protocol/revisions.ts";
import { dispatch, serve, type Session } from "../../server.ts";
import { encodeMessage, type Framing } from "../../framing.ts";
import { chunked, claimOf, STREAM_TYPES } from "../_fixtures.ts";
import { frameText } from "../_framing_cases.ts";
import { cuts, positions, type Property, property } from "./_property.ts";
import "../../tools/mod.ts";

/** What an object has without being told. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

const strings = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(...INHERITED, "", "0", "1", "then", "toJSON"),
  // Half a surrogate pair can travel as an escape only.
  fc.constantFrom("\ud83d", "\udc00x", "\u202e", "\0", "\u2028"),
).map((text) => JSON.stringify(text));

const scalars = fc.oneof(
  strings,
  fc.constantFrom("null", "true", "false", "0", "-0", "1", "1.0", "-1", "1.5"),
  fc.constantFrom("1e400", "-1e400", "9007199254740993", "1e-320", "1e21"),
  fc.maxSafeInteger().map(String),
);

/** Any JSON value, as text: so are `__proto__` and names that come twice kept. */
const { value: values, object: objects } = fc.letrec<
  { value: string; array: string; object: string }
>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalars, tie("array"), tie("object")),
  array: fc.array(tie("value"), { maxLength: 4 })
    .map((items) => `[${items}]`),
  object: fc.array(fc.tuple(strings, tie("value")), { maxLength: 4 })
    .map(toObjectText),
}));

function toObjectText(members: [name: string, value: string][]): string {
  return `{${members.map(([name, value]) => `${name}:${value}`)}}`;
}

const quoted = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...texts).map((text) => JSON.stringify(text));

const methodNames = fc.oneof(
  { arbitrary: quoted(["tools/list", "tools/call", "ping"]), weight: 6 },
  quoted(["initialize", "server/discover", "subscriptions/listen"]),
  quoted(["notifications/initialized", "notifications/cancelled", "nope"]),
  strings,
  scalars,
);

const toolNames = fc.oneof(
  quoted(["conjugate", "lookup_spanish", "lookup_irregular_verb"]),
  strings,
  values,
);

const metas = fc.oneof(
  fc.constantFrom(...statelessVersions)
    .map((version) => JSON.stringify(claimOf(version)._meta)),
  values.map((value) =>
    `{"io.modelcontextprotocol/protocolVersion":${value},"io.modelcontextprotocol/clientCapabilities":{}}`
  ),
  objects,
);

/** Members of `params`, each there or not. */
const params = members([
  ["name", toolNames, 6],
  ["arguments", fc.oneof(objects, values), 6],
  ["_meta", metas, 3],
  ["notifications", objects, 3],
  ["cursor", values, 1],
  [
    "protocolVersion",
    quoted([...PROTOCOL_VERSIONS, "x"]),
    4,
  ],
  ["requestId", values, 1],
]);

const requests = members([
  ["jsonrpc", quoted(["2.0", "2.0", "2.0", "2.0", "1.0"]), 9],
  ["id", scalars, 7],
  ["method", methodNames, 9],
  ["params", fc.oneof({ arbitrary: params, weight: 4 }, values), 7],
  ["result", values, 1],
  ["error", values, 1],
  ["__proto__", values, 1],
]);

/** Objects whose members are there `weight` times of ten. */
function members(
  table: [name: string, value: fc.Arbitrary<string>, weight: number][],
): fc.Arbitrary<string> {
  const each = table.map(([name, value, weight]) =>
    fc.tuple(fc.nat({ max: 9 }), value).map(([chance, text]) =>
      chance < weight ? `${JSON.stringify(name)}:${text}` : ""
    )
  );
  return fc.tuple(...each).map((parts) =>
    `{${parts.filter((part) => part !== "")}}`
  );
}

const batches = fc.array(fc.oneof(requests, values), { maxLength: 4 })
  .map((entries) => `[${entries}]`);

const messages = fc.oneof(
  { arbitrary: requests, weight: 8 },
  { arbitrary: batches, weight: 2 },
  values,
);

/** What a message is owed: nothing, or an answer that carries this id. */
type Owed = "nothing" | { id: RequestId | null };

function owedTo(value: unknown): Owed {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { id: null };
  }
  const message = value as Record<string, unknown>;
  const id = isId(message["id"]) ? message["id"] : null;
  if (message["jsonrpc"] !== "2.0") return { id };
  if (typeof message["method"] === "string") {
    return Object.hasOwn(message, "id") ? { id } : "nothing";
  }
  const isResponse = !("method" in message) &&
    (Object.hasOwn(message, "result") || Object.hasOwn(message, "error"));
  return isResponse ? "nothing" : { id };
}

function isId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isSafeInteger(id) ||
    (typeof id === "number" && Math.floor(id) !== id && isFinite(id));
}

/** An answer's whole shape, its keys in the order of the wire. */
function assertAnswer(answer: JSONRPCMessage, owed: Owed): void {
  assert(owed !== "nothing", `nothing is owed, came ${JSON.stringify(answer)}`);
  const shape = JSON.parse(JSON.stringify(answer));
  const keys = Object.keys(shape).join();
  if (keys === "jsonrpc,method,params") {
    assertEquals(shape.method, "notifications/subscriptions/acknowledged");
    const { _meta } = shape.params;
    assertEquals(_meta["io.modelcontextprotocol/subscriptionId"], owed.id);
    return;
  }
  assertEquals(shape.jsonrpc, "2.0");
  assertEquals(shape.id, owed.id);
  if (keys === "jsonrpc,id,result") {
    assertEquals(typeof shape.result, "object");
    assert(owed.id !== null, "a result without an id");
    return;
  }
  assertEquals(keys, "jsonrpc,id,error");
  assert(Number.isSafeInteger(shape.error.code), shape.error.code);
  assert(shape.error.code !== -32603, JSON.stringify(shape));
  assert(shape.error.message.length > 0);
}

function assertAnswered(
  message: unknown,
  answer: JSONRPCMessage | JSONRPCMessage[] | undefined,
  takesBatches: boolean,
): void {
  const isBatch = Array.isArray(message) && takesBatches && message.length > 0;
  const owed = (isBatch ? message : [message]).map(owedTo)
    .filter((one) => one !== "nothing");
  const answers = answer === undefined ? [] : [answer].flat();
  assertEquals(Array.isArray(answer), isBatch && owed.length > 0);
  assertEquals(answers.length, owed.length);
  answers.forEach((one, i) => assertAnswer(one, owed[i] ?? "nothing"));
}

function prototypes(): unknown[] {
  return [Object, Array, Map, Set, Function, String, Promise].flatMap((of) =>
    Reflect.ownKeys(of.prototype)
      .flatMap((
        key,
      ) => [key, Object.getOwnPropertyDescriptor(of.prototype, key)?.value])
  );
}

const dispatching = property(
  "dispatch() gives any request one well-formed answer and anything else none",
  1000,
  fc.asyncProperty(
    fc.array(messages, { maxLength: 8 }),
    fc.boolean(),
    async (texts, strict) => {
      const before = prototypes();
      const session: Session = { strict };
      for (const text of texts) {
        const message = JSON.parse(text);
        const { batches } = session.revision ?? oldestRevision;
        assertAnswered(message, await dispatch(message, session), batches);
      }
      const after = prototypes();
      assertEquals(after.length, before.length);
      assert(after.every((value, i) => Object.is(value, before[i])));
    },
  ),
);

const serving = property(
  "serve() writes the answers of dispatch() in order, in the framing and the chunks that came",
  150,
  fc.asyncProperty(
    fc.array(fc.oneof(requests, batches), { minLength: 1, maxLength: 8 }),
    fc.constantFrom(...FRAMINGS),
    cuts,
    fc.constantFrom(...STREAM_TYPES),
    async (texts, framing, cut, type) => {
      const session: Session = {};
      const frames: Uint8Array[] = [];
      for (const text of texts) {
        const answer = await dispatch(JSON.parse(text), session);
        if (answer !== undefined) frames.push(encodeMessage(answer, framing));
      }
      const held = session.subscriptions?.size ?? 0;
      const written = await serveText(texts, framing, cut, type);
      const expected = new Uint8Array(
        await new Blob(frames as BlobPart[]).arrayBuffer(),
      );
      const head = written.subarray(0, expected.length);
      assertEquals(
        new TextDecoder().decode(head),
        new TextDecoder().decode(expected),
      );
      assertEquals(written.length > expected.length, held > 0);
    },
  ),
);

async function serveText(
  texts: readonly string[],
  framing: Framing,
  cut: Parameters<typeof positions>[0],
  type: typeof STREAM_TYPES[number],
): Promise<Uint8Array> {
  const input = texts.map((text) => frameText(text, framing)).join("");
  const bytes = new TextEncoder().encode(input);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const output = new Response(
    readable as ReadableStream<Uint8Array<ArrayBuffer>>,
  ).bytes();
  const code = await serve({
    readable: chunked(bytes, positions(cut, bytes.length), type),
    writable,
    logLevel: "ERROR",
  });
  assertEquals(code, 0);
  return await output;
}

/** All of them. */
export const dispatchProperties: readonly Property[] = [dispatching, serving];
