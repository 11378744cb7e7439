import { assertEquals, assertMatch } from "@std/assert";
import { dispatch } from "../../protocol/_dispatch.ts";
import { endSubscriptions, type Session } from "../../protocol/_methods.ts";
import { ToolError } from "../../protocol/errors.ts";
import { Logger } from "../../runtime/log.ts";
import { MetaKey } from "../../protocol/_meta.ts";
import {
  newestHandshake,
  type ProtocolVersion,
  revisions,
  statelessVersions,
} from "../../protocol/revisions.ts";
import { register, type Tool } from "../../tools/registry.ts";
import { claimOf } from "../_fixtures.ts";

const { _meta: STATELESS } = claimOf("2026-07-28");
const SERVER_INFO = { name: "miniagent-server", version: "0.1" };
const INTERNAL = { code: -32603, message: "Internal error" };
const ANY = { type: "object" };
const FULL: Tool = {
  name: "full",
  description: "Has every field",
  inputSchema: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { n: { type: "integer" }, s: { enum: ["a", "b"] } },
    required: ["n", "s"],
    additionalProperties: false,
  },
  outputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
  },
  title: "Full",
  annotations: { readOnlyHint: true },
  icons: [{ src: "data:image/png;base64,AA==" }],
  fn: ({ n }) => ({ n }),
};
register(FULL);

/** One call per tool; the name of the tool is the title. */
type Row = [title: string, fn: Tool["fn"], expected: unknown];

function text(value: string): unknown {
  return { content: [{ type: "text", text: value }], isError: false };
}

function refusal(value: string): unknown {
  return { content: [{ type: "text", text: value }], isError: true };
}

function startSession(
  version?: string,
): { session: Session; errors: string[] } {
  const errors: string[] = [];
  const log = new Logger("test", {
    level: "ERROR",
    write: (text) => void errors.push(text.replace("ERROR test: ", "")),
  });
  const session: Session = { log };
  if (revisions.get(version ?? "")?.opening === "handshake") {
    ask(session, "initialize", { protocolVersion: version });
  }
  return { session, errors };
}

/** The result of an answer, or its error. */
async function ask(
  session: Session,
  method: string,
  params: Record<string, unknown> = {},
  id: unknown = 1,
): Promise<unknown> {
  const answer = await dispatch(
    { jsonrpc: "2.0", id, method, params },
    session,
  );
  const { result, error, ...rest } = answer as unknown as Record<
    string,
    unknown
  >;
  if (result === undefined && error === undefined) return answer;
  assertEquals<unknown>(rest, { jsonrpc: "2.0", id });
  return result ?? error;
}

function stateless(
  params: Record<string, unknown> = {},
): Record<string, unknown> {
  return { ...params, _meta: STATELESS };
}

function codeOf(error: unknown): unknown {
  return (error as { code?: number }).code;
}

Deno.test("initialize answers the lab's bytes to 2024-11-05", async () => {
  const params = { protocolVersion: "2024-11-05" };
  assertEquals(
    JSON.stringify(await ask({}, "initialize", params)),
    '{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},' +
      '"serverInfo":{"name":"miniagent-server","version":"0.1"}}',
  );
});

const NEWEST = newestHandshake.protocolVersion;
const VERSIONS: [
  asked: unknown,
  answered: string,
  served: ProtocolVersion,
  strict: ProtocolVersion,
][] = [
  ["2024-11-05", "2024-11-05", "2024-11-05", "2024-11-05"],
  ["2025-03-26", "2025-03-26", "2025-03-26", "2025-03-26"],
  ["2025-06-18", "2025-06-18", "2025-06-18", "2025-06-18"],
  ["2025-11-25", "2025-11-25", "2025-11-25", "2025-11-25"],
  ["2026-07-28", "2026-07-28", NEWEST, NEWEST],
  ["9999-01-01", "9999-01-01", "2024-11-05", NEWEST],
  ["__proto__", "__proto__", "2024-11-05", NEWEST],
  ["", "", "2024-11-05", NEWEST],
  [undefined, "2024-11-05", "2024-11-05", "2024-11-05"],
  [null, "2024-11-05", "2024-11-05", "2024-11-05"],
  [7, "2024-11-05", "2024-11-05", "2024-11-05"],
  [["2025-11-25"], "2024-11-05", "2024-11-05", "2024-11-05"],
];
for (const [asked, answered, served, strictly] of VERSIONS) {
  Deno.test(`initialize agrees on a version when asked for ${JSON.stringify(asked)}`, async () => {
    for (const strict of [false, true]) {
      const session: Session = { strict };
      const result = await ask(session, "initialize", {
        protocolVersion: asked,
      });
      assertEquals<unknown>(result, {
        protocolVersion: strict ? strictly : answered,
        capabilities: { tools: {} },
        serverInfo: SERVER_INFO,
      });
      const expected = revisions.get(strict ? strictly : served);
      assertEquals(session.revision, expected);
    }
  });
}

Deno.test("initialize and server/discover say who the server is and how to use it", async () => {
  const serverInfo = { name: "own", version: "7" };
  const session = { serverInfo, instructions: "Conjugate." };
  assertEquals<unknown>(await ask(session, "initialize"), {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo,
    instructions: "Conjugate.",
  });
  assertEquals<unknown>(await ask(session, "server/discover", stateless()), {
    resultType: "complete",
    supportedVersions: statelessVersions,
    capabilities: { tools: {} },
    instructions: "Conjugate.",
    ttlMs: 3_600_000,
    cacheScope: "public",
    _meta: { [MetaKey.serverInfo]: serverInfo },
  });
});

Deno.test("ping answers exactly {} in every handshake revision", async () => {
  for (const { protocolVersion, opening } of revisions.values()) {
    if (opening === "request") continue;
    const { session } = startSession(protocolVersion);
    assertEquals<unknown>(await ask(session, "ping", { x: 1 }), {});
  }
});

for (const [version, { opening, toolFields }] of revisions) {
  Deno.test(`tools/list shows the fields of a tool that ${version} knows`, async () => {
    const { session } = startSession(version);
    const result = await ask(session, "tools/list", claimOf(version)) as {
      tools: Record<string, unknown>[];
    };
    const fields = ["name", "description", "inputSchema", ...toolFields];
    assertEquals(Object.keys(result.tools[0] ?? {}), fields);
    assertEquals(Object.keys(result.tools[1] ?? {}).length, 3);
    assertEquals(
      result.tools.map(({ name }) => name).slice(0, 2),
      [
        "full",
        "a string",
      ].map(nameOf),
    );
    assertEquals(JSON.stringify(result).includes("$schema"), false);
    assertEquals(
      Object.keys(result),
      opening === "request"
        ? ["resultType", "tools", "ttlMs", "cacheScope", "_meta"]
        : ["tools"],
    );
  });
}

Deno.test("tools/list sends no $schema at any depth, but what only has its name", async () => {
  const dialect = { $schema: "http://json-schema.org/draft-07/schema#" };
  const name = { $schema: { ...dialect, type: "string" } };
  register({
    name: "nested",
    description: "Has subschemas that name their dialect",
    inputSchema: {
      ...dialect,
      type: "object",
      properties: { ...name, default: { ...dialect, default: dialect } },
      anyOf: [dialect, { not: { ...dialect, const: dialect } }],
      $defs: { enum: { ...dialect, enum: [dialect] } },
    },
    fn: () => "",
  });
  const { session } = startSession("2025-11-25");
  const { tools } = await ask(session, "tools/list") as {
    tools: Record<string, unknown>[];
  };
  assertEquals<unknown>(tools.find((tool) => tool["name"] === "nested"), {
    name: "nested",
    description: "Has subschemas that name their dialect",
    inputSchema: {
      type: "object",
      properties: {
        $schema: { type: "string" },
        default: { default: dialect },
      },
      anyOf: [{}, { not: { const: dialect } }],
      $defs: { enum: { enum: [dialect] } },
    },
  });
});

Deno.test("tools/list leaves the schemas of a tool as they are", () => {
  assertEquals(Object.hasOwn(FULL.inputSchema, "$schema"), true);
  assertEquals(Object.hasOwn(FULL.outputSchema ?? {}, "$schema"), true);
});

Deno.test("tools/list has one page: any cursor but null is refused", async () => {
  for (const cursor of ["", "x", 0, {}]) {
    assertEquals(codeOf(await ask({}, "tools/list", { cursor })), -32602);
  }
  const all = await ask({}, "tools/list");
  assertEquals(await ask({}, "tools/list", { cursor: null }), all);
});

const cycle: unknown[] = [];
cycle.push(cycle);
const CYCLIC_CAUSE = new Error("outer");
CYCLIC_CAUSE.cause = CYCLIC_CAUSE;
const SAID_NO = "Cannot do that";
const SUCCEED: Row[] = [
  ["a string", () => "ate", text("ate")],
  ["an empty string", () => "", text("")],
  ["a string that is JSON", () => '{"a":1}', text('{"a":1}')],
  ["half a surrogate pair", () => "\ud83d", text("\ud83d")],
  ["a number", () => 1.5, text("1.5")],
  ["zero", () => 0, text("0")],
  ["false", () => false, text("false")],
  ["null", () => null, text("null")],
  ["an array", () => [1, "a"], text('[1,"a"]')],
  ["an object", () => ({ a: "comió" }), text('{"a":"comió"}')],
  ["toJSON", () => ({ toJSON: () => [1] }), text("[1]")],
  ["undefined", () => undefined, { content: [], isError: false }],
  ["a promise", () => Promise.resolve({ a: 1 }), text('{"a":1}')],
  ["a promise of undefined", () => Promise.resolve(), {
    content: [],
    isError: false,
  }],
  [
    "a thenable",
    () => ({ then: (done: (v: string) => void) => done("x") }),
    text("x"),
  ],
  ["then that is no function", () => ({ then: 1 }), text('{"then":1}')],
  ["ToolError", () => {
    throw new ToolError(SAID_NO);
  }, refusal(SAID_NO)],
  [
    "ToolError in a promise",
    () => Promise.reject(new ToolError(SAID_NO)),
    refusal(SAID_NO),
  ],
  ["ToolError in toJSON", () => ({
    toJSON: () => {
      throw new ToolError(SAID_NO);
    },
  }), refusal(SAID_NO)],
];
const FAIL: Row[] = [
  ["a BigInt", () => 1n, /BigInt/],
  ["a BigInt in a promise", () => Promise.resolve({ n: 1n }), /BigInt/],
  ["a cycle", () => cycle, /circular/],
  ["a function", () => () => {}, /result is function/],
  ["a symbol", () => Symbol("s"), /result is symbol/],
  [
    "toJSON that gives undefined",
    () => ({ toJSON: () => undefined }),
    /result is object/,
  ],
  ["toJSON that throws", () => ({
    toJSON: () => {
      throw new RangeError("no JSON");
    },
  }), /RangeError: no JSON/],
  ["a getter that throws", () => ({
    get a(): never {
      throw new RangeError("no member");
    },
  }), /RangeError: no member/],
  ["then that throws", () => ({
    get then(): never {
      throw new RangeError("no then");
    },
  }), /RangeError: no then/],
  ["throw an Error", () => {
    throw new Error("secret");
  }, /Error: secret\nERROR test: +at /],
  ["throw undefined", () => thrown(undefined), /undefined/],
  ["throw a string", () => thrown("some text"), /some text/],
  ["throw null", () => thrown(null), /null/],
  [
    "throw an object without a prototype",
    () => thrown(Object.create(null)),
    /cannot be shown/,
  ],
  [
    "throw an Error with a cyclic cause",
    () => thrown(CYCLIC_CAUSE),
    /Error: outer/,
  ],
  ["reject with undefined", () => Promise.reject(undefined), /undefined/],
  [
    "reject with an Error",
    () => Promise.reject(new Error("later")),
    /Error: later/,
  ],
];

function thrown(value: unknown): never {
  throw value;
}

function nameOf(title: string): string {
  return title.replaceAll(" ", "_");
}

for (const [title, fn] of [...SUCCEED, ...FAIL]) {
  register({ name: nameOf(title), description: title, inputSchema: ANY, fn });
}
for (const [title, , expected] of SUCCEED) {
  Deno.test(`tools/call answers with a result when a tool gives ${title}`, async () => {
    const { session, errors } = startSession();
    const result = await ask(session, "tools/call", { name: nameOf(title) });
    assertEquals(result, expected);
    assertEquals(JSON.stringify(result), JSON.stringify(expected));
    assertEquals(errors, []);
  });
}
for (const [title, , expected] of FAIL) {
  Deno.test(`tools/call answers -32603 and logs why when a tool gives ${title}`, async () => {
    const { session, errors } = startSession();
    const error = await ask(session, "tools/call", { name: nameOf(title) });
    assertEquals<unknown>(error, INTERNAL);
    assertEquals(errors.length, 1);
    assertMatch(errors[0] ?? "", expected as RegExp);
    assertEquals(
      errors[0]?.startsWith(`Tool "${nameOf(title)}" failed: `),
      true,
    );
  });
}

const PROTOTYPE_NAMES = ["__proto__", "constructor", "toString", "valueOf"];
const REFUSED: [
  title: string,
  params: Record<string, unknown>,
  message: RegExp,
][] = [
  ["no name", {}, /params\.name is missing, expected a string/],
  ["a name that is a number", { name: 5 }, /params\.name is 5/],
  ["a name that is null", { name: null }, /params\.name is null/],
  ["an empty name", { name: "" }, /^Unknown tool: ''$/],
  ["an unknown name", { name: "run" }, /^Unknown tool: 'run'$/],
  ...PROTOTYPE_NAMES.map((name): [string, { name: string }, RegExp] => [
    `the name ${name}`,
    { name },
    new RegExp(`^Unknown tool: '${name}'$`),
  ]),
  [
    "arguments that are a string",
    { name: "full", arguments: "n" },
    /arguments is "n", expected an object/,
  ],
  [
    "arguments that are an array",
    { name: "full", arguments: [] },
    /arguments is an array/,
  ],
  [
    "arguments that are a number",
    { name: "full", arguments: 0 },
    /arguments is 0/,
  ],
  [
    "arguments that are false",
    { name: "full", arguments: false },
    /arguments is false/,
  ],
];
for (const [title, params, message] of REFUSED) {
  Deno.test(`tools/call answers -32602 in every revision when it has ${title}`, async () => {
    for (const version of revisions.keys()) {
      const { session } = startSession(version);
      const all = { ...params, ...claimOf(version) };
      const error = await ask(session, "tools/call", all);
      assertEquals(codeOf(error), -32602);
      assertMatch((error as Error).message, message);
    }
  });
}

const WRONG: [args: string, messages: RegExp[]][] = [
  ['{"n":"1","s":"c"}', [
    /\/n: value is "1", expected/,
    /\/s: value is "c", expected/,
  ]],
  ["{}", [/\bn\b.*missing/, /\bs\b.*missing/]],
  ["null", [/\bn\b.*missing/, /\bs\b.*missing/]],
  ['{"n":1e400,"s":"a"}', [/\/n: value is Infinity/]],
  ['{"n":9007199254740993,"s":"a"}', [/\/n: value is 9007199254740992/]],
  ['{"n":1,"s":"a","__proto__":{"x":1}}', [/__proto__/]],
  ['{"n":1,"s":"a","constructor":1}', [/\/constructor/]],
  ['{"n":1,"s":"a","toString":"a"}', [/\/toString/]],
];
for (const [args, messages] of WRONG) {
  Deno.test(`tools/call names every failure, by revision, when arguments are ${args}`, async () => {
    for (const [version, { invalidArguments }] of revisions) {
      const { session, errors } = startSession(version);
      const params = { name: "full", arguments: JSON.parse(args) };
      const all = { ...params, ...claimOf(version) };
      const answer = await ask(session, "tools/call", all);
      const { content, isError } = answer as ReturnType<typeof JSON.parse>;
      assertEquals(isError, invalidArguments === "result" ? true : undefined);
      const message = content?.[0].text ?? (answer as Error).message;
      for (const pattern of messages) assertMatch(message, pattern);
      assertEquals(message.startsWith('Cannot call tool "full": '), true);
      assertEquals(codeOf(answer), isError ? undefined : -32602);
      assertEquals(errors, []);
    }
  });
}

Deno.test("tools/call does not run a tool whose request or arguments are wrong", async () => {
  let runs = 0;
  const fn = (): void => void runs++;
  register({ ...FULL, name: "counted", fn });
  const params = { name: "counted", arguments: { n: 1, s: "a" } };
  const message = { jsonrpc: "2.0", method: "tools/call", params };
  for (const id of [null, true, [], {}, 2 ** 60]) {
    dispatch({ ...message, id }, {});
  }
  dispatch(message, {});
  dispatch({ ...message, jsonrpc: "1.0", id: 1 }, {});
  await ask({}, "tools/call", { name: "counted", arguments: { n: 1 } });
  assertEquals(runs, 0);
  await ask({}, "tools/call", params);
  assertEquals(runs, 1);
});

Deno.test("tools/call takes arguments null or absent as {}", async () => {
  const params = { name: nameOf("a string") };
  const expected = text("ate");
  assertEquals(await ask({}, "tools/call", params), expected);
  assertEquals(
    await ask({}, "tools/call", { ...params, arguments: null }),
    expected,
  );
});

for (const [version, { opening, structuredContent }] of revisions) {
  Deno.test(`tools/call gives an object to ${version} as it takes it`, async () => {
    const { session } = startSession(version);
    const isStateless = opening === "request";
    const params = { name: "full", arguments: { n: 1, s: "a" } };
    const all = { ...params, ...claimOf(version) };
    const result = await ask(session, "tools/call", all);
    assertEquals(
      JSON.stringify(result),
      JSON.stringify({
        ...isStateless ? { resultType: "complete" } : {},
        content: [{ type: "text", text: '{"n":1}' }],
        ...structuredContent ? { structuredContent: { n: 1 } } : {},
        isError: false,
        ...isStateless ? { _meta: { [MetaKey.serverInfo]: SERVER_INFO } } : {},
      }),
    );
  });
}

const MISFITS: Row[] = [
  ["misfit", () => ({ n: "1" }), /\/n: value is "1"/],
  ["misfit of undefined", () => undefined, /result is undefined/],
  ["misfit of text", () => "n", /value is "n", expected/],
  ["misfit of Infinity", () => ({ n: Infinity }), /\/n: value is null/],
];
for (const [title, fn, expected] of MISFITS) {
  register({ ...FULL, name: nameOf(title), inputSchema: ANY, fn });
  Deno.test(`tools/call answers -32603 in every revision when outputSchema meets a ${title}`, async () => {
    for (const version of revisions.keys()) {
      const { session, errors } = startSession(version);
      const params = { name: nameOf(title) };
      const all = { ...params, ...claimOf(version) };
      assertEquals<unknown>(await ask(session, "tools/call", all), INTERNAL);
      assertMatch(errors[0] ?? "", expected as RegExp);
    }
  });
}

Deno.test("tools/call answers -32603 and logs when the validator throws", async () => {
  register({
    name: "endless",
    description: "Arguments may nest without end",
    inputSchema: { type: "object", properties: { a: { $ref: "#" } } },
    fn: () => "reached",
  });
  const { session, errors } = startSession();
  let args = {};
  for (let depth = 0; depth < 50_000; depth++) args = { a: args };
  const params = { name: "endless", arguments: args };
  assertEquals<unknown>(await ask(session, "tools/call", params), INTERNAL);
  assertMatch(
    errors[0] ?? "",
    /^Tool "endless" failed: Error: Cannot validate/,
  );
});

Deno.test("tools/call calls a tool as its method", async () => {
  class Counter implements Tool {
    name = "counter";
    description = "Count";
    inputSchema = ANY;
    #count = 0;
    get title(): string {
      return "Counter";
    }
    fn(): number {
      return ++this.#count;
    }
  }
  register(new Counter());
  await ask({}, "tools/call", { name: "counter" });
  assertEquals(await ask({}, "tools/call", { name: "counter" }), text("2"));
  const { session } = startSession("2025-11-25");
  const list = JSON.stringify(await ask(session, "tools/list"));
  assertMatch(list, /"name":"counter".*"title":"Counter"/);
});

function listenParams(): Record<string, unknown> {
  return stateless({ notifications: { toolsListChanged: true } });
}

for (const id of ["listen:0", 0, "", "__proto__"]) {
  Deno.test(`subscriptions/listen is acknowledged and held until the end under id ${JSON.stringify(id)}`, async () => {
    const session: Session = {};
    const ack = await ask(session, "subscriptions/listen", listenParams(), id);
    assertEquals<unknown>(ack, {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: {}, _meta: { [MetaKey.subscriptionId]: id } },
    });
    assertEquals(endSubscriptions(session), [{
      jsonrpc: "2.0",
      id,
      result: {
        resultType: "complete",
        _meta: {
          [MetaKey.subscriptionId]: id,
          [MetaKey.serverInfo]: SERVER_INFO,
        },
      },
    }]);
    assertEquals(endSubscriptions(session), []);
  });
}

Deno.test("subscriptions/listen refuses an id that is held, until it is cancelled", async () => {
  const session: Session = {};
  const listen = (id: unknown): Promise<unknown> =>
    ask(session, "subscriptions/listen", listenParams(), id);
  await listen(1);
  assertEquals(codeOf(await listen(1)), -32600);
  assertEquals(codeOf(await listen("1")), undefined);
  const cancel = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  };
  assertEquals(dispatch(cancel, session), undefined);
  assertEquals(endSubscriptions(session).map(({ id }) => id), ["1"]);
  assertEquals(codeOf(await listen(1)), undefined);
});

Deno.test("subscriptions/listen holds no more than 1000", async () => {
  const session: Session = {};
  for (let id = 0; id < 1000; id++) {
    await ask(session, "subscriptions/listen", listenParams(), id);
  }
  const error = await ask(session, "subscriptions/listen", listenParams(), "x");
  assertEquals(codeOf(error), -32603);
  assertEquals(endSubscriptions(session).length, 1000);
});
