import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dispatch } from "../../protocol/_dispatch.ts";
import type { Session } from "../../protocol/_methods.ts";
import { MetaKey } from "../../protocol/_meta.ts";
import {
  PROTOCOL_VERSIONS,
  revisions,
  statelessVersions,
} from "../../protocol/revisions.ts";
import { register } from "../../tools/registry.ts";
import { claimOf } from "../_fixtures.ts";

const { _meta: STATELESS } = claimOf("2026-07-28");
const PROTOTYPE_NAMES = [
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "valueOf",
];
const OBJECT_SCHEMA = { type: "object" };

register({
  name: "later",
  description: "Answer in a later turn",
  inputSchema: OBJECT_SCHEMA,
  fn: () => Promise.resolve("done"),
});

/** A session and what it logs, as `LEVEL text`. */
function startSession(
  version?: string,
): { session: Session; logged: string[] } {
  const logged: string[] = [];
  const session: Session = {
    log: {
      info: (text) => void logged.push(`INFO ${text}`),
      warning: (text) => void logged.push(`WARNING ${text}`),
      error: (...parts) => void logged.push(`ERROR ${parts.join(": ")}`),
    },
  };
  if (version !== undefined) {
    dispatch(request("initialize", { protocolVersion: version }), session);
    dispatch(notification("notifications/initialized"), session);
  }
  return { session, logged };
}

function request(method: string, params?: unknown, id: unknown = 1): object {
  return {
    jsonrpc: "2.0",
    id,
    method,
    ...(params === undefined ? {} : { params }),
  };
}

function notification(method: string, params?: unknown): object {
  return {
    jsonrpc: "2.0",
    method,
    ...(params === undefined ? {} : { params }),
  };
}

/** The id and the code of an error answer, or `"result"` instead of a code. */
function verdict(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(verdict);
  const { id, error } = answer as { id: unknown; error?: { code: number } };
  return [id, error?.code ?? "result"];
}

function messageOf(answer: unknown): string {
  return (answer as { error: { message: string } }).error.message;
}

const INVALID: [title: string, message: unknown, id: unknown, code: number][] =
  [
    ["a string", "ping", null, -32600],
    ["a number", 5, null, -32600],
    ["null", null, null, -32600],
    ["true", true, null, -32600],
    ["an empty object", {}, null, -32600],
    ["no jsonrpc", { id: 7, method: "ping" }, 7, -32600],
    ["jsonrpc 1.0", { jsonrpc: "1.0", id: "a", method: "ping" }, "a", -32600],
    ["jsonrpc 2", { jsonrpc: 2, id: 0, method: "ping" }, 0, -32600],
    ["no method", { jsonrpc: "2.0", id: "" }, "", -32600],
    ["no method and no id", { jsonrpc: "2.0" }, null, -32600],
    ["method 7", { jsonrpc: "2.0", id: 1, method: 7 }, 1, -32600],
    [
      "method null",
      { jsonrpc: "2.0", id: 1, method: null, result: 1 },
      1,
      -32600,
    ],
    [
      "method 7 with a bad id",
      { jsonrpc: "2.0", id: [], method: 7 },
      null,
      -32600,
    ],
    ["params 5", request("ping", 5), 1, -32600],
    ["params false", request("tools/list", false), 1, -32600],
    ["params a string", request("ping", "x"), 1, -32600],
    ["params an array", request("ping", []), 1, -32602],
    ["params an array, initialize", request("initialize", [1]), 1, -32602],
    ["params an array, method unknown", request("nope", []), 1, -32601],
    ["method unknown", request("nope"), 1, -32601],
    ["method empty", request(""), 1, -32601],
    [
      "a notification's name with an id",
      request("notifications/initialized"),
      1,
      -32601,
    ],
  ];
for (const [title, message, id, code] of INVALID) {
  Deno.test(`dispatch() answers ${code} when the message is ${title}`, () => {
    const { session } = startSession("2024-11-05");
    assertEquals(verdict(dispatch(message, session)), [id, code]);
    assertEquals(verdict(dispatch(request("ping"), session)), [1, "result"]);
  });
}

const IDS: [id: string, echoed: boolean][] = [
  ["0", true],
  ['""', true],
  ['"1"', true],
  ["1", true],
  ["1.5", true],
  ["-1", true],
  ["9007199254740991", true],
  ["9007199254740993", false],
  ["1e400", false],
  ["1152921504606846976", false],
  ["null", false],
  ["true", false],
  ["{}", false],
  ["[]", false],
  ['"__proto__"', true],
  [`"${"x".repeat(10_000)}"`, true],
];
for (const [id, echoed] of IDS) {
  const what = echoed ? "echoes" : "refuses";
  Deno.test(`dispatch() ${what} the id ${id.slice(0, 20)}`, () => {
    const text = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
    const answer = JSON.stringify(dispatch(JSON.parse(text), {}));
    assertStringIncludes(
      answer,
      echoed
        ? `{"jsonrpc":"2.0","id":${id},"result":{}}`
        : '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"',
    );
  });
}

Deno.test("dispatch() takes params null as absent", () => {
  for (const method of ["initialize", "ping", "tools/list"]) {
    assertEquals(verdict(dispatch(request(method, null), {})), [1, "result"]);
  }
});

Deno.test("dispatch() gives an error's keys in the order of the wire", () => {
  assertEquals(
    JSON.stringify(dispatch(request("nope"), {})),
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: \\"nope\\""}}',
  );
});

Deno.test("dispatch() knows no method of Object.prototype", () => {
  for (const name of PROTOTYPE_NAMES) {
    for (const version of PROTOCOL_VERSIONS) {
      const { session } = startSession(version);
      const answer = dispatch(request(name, claimOf(version)), session);
      assertEquals(verdict(answer), [1, -32601], `${name}, ${version}`);
    }
  }
});

Deno.test("dispatch() does not change Object.prototype", () => {
  const text = '{"jsonrpc":"2.0","id":"__proto__","method":"initialize",' +
    '"params":{"__proto__":{"polluted":1},"protocolVersion":"__proto__"}}';
  const answer = JSON.stringify(dispatch(JSON.parse(text), {}));
  assertStringIncludes(answer, '"protocolVersion":"__proto__"');
  assertEquals(Reflect.has({}, "polluted"), false);
});

const SILENT: [title: string, message: object, logged: RegExp | undefined][] = [
  ["a known notification", notification("notifications/progress"), undefined],
  [
    "an unknown one",
    notification("nope"),
    /^INFO .*unknown notification "nope"/,
  ],
  ["params that are none", notification("nope", 5), /^INFO /],
  [
    "a request without id",
    notification("tools/call", { name: "later" }),
    /^INFO /,
  ],
  ["initialize without id", notification("initialize"), /^INFO /],
  [
    "a result",
    { jsonrpc: "2.0", id: 9, result: {} },
    /^INFO .*response with id 9/,
  ],
  ["an error", { jsonrpc: "2.0", id: null, error: {} }, /^INFO .*response/],
  ["a result with no id", { jsonrpc: "2.0", result: 1 }, /^INFO .*response/],
  [
    "cancelled, unknown",
    notification("notifications/cancelled", { requestId: 5 }),
    undefined,
  ],
  [
    "cancelled, malformed",
    notification("notifications/cancelled", []),
    undefined,
  ],
  ["cancelled, bare", notification("notifications/cancelled"), undefined],
];
for (const [title, message, expected] of SILENT) {
  Deno.test(`dispatch() says nothing to a message without a question: ${title}`, () => {
    const { session, logged } = startSession("2025-11-25");
    assertEquals(dispatch(message, session), undefined);
    assertEquals(logged.length, expected === undefined ? 0 : 1);
    for (const line of logged) assertEquals(expected?.test(line), true, line);
  });
}

const WARNED: [title: string, messages: object[], warnings: RegExp[]][] = [
  ["the handshake is as it should be", [
    request("initialize"),
    notification("notifications/initialized"),
    request("ping"),
  ], []],
  ["requests come before it", [request("tools/list"), request("ping")], [
    /"tools\/list" came before "initialize"/,
    /"ping" came before "initialize"/,
  ]],
  ["a ping comes before it", [request("ping")], [/"ping" came before/]],
  ["a request follows initialize", [request("initialize"), request("ping")], [
    /"ping" came right after "initialize"/,
  ]],
  ["a notification follows initialize", [
    request("initialize"),
    notification("notifications/progress"),
  ], [/"notifications\/progress" came right after/]],
  ["initialize comes twice", [request("initialize"), request("initialize")], [
    /"initialize" came right after "initialize"/,
  ]],
  ["initialize comes again later", [
    request("initialize"),
    notification("notifications/initialized"),
    request("initialize"),
    notification("notifications/initialized"),
  ], []],
  ["a response follows initialize", [
    request("initialize"),
    { jsonrpc: "2.0", id: null, error: {} },
  ], [/a response came right after "initialize"/]],
  ["what is no message follows initialize", [request("initialize"), {}], [
    /what is no message came right after/,
  ]],
  ["an array follows initialize", [
    request("initialize", { protocolVersion: "2025-11-25" }),
    [],
  ], [/an array came right after/]],
  ["an empty batch follows initialize", [request("initialize"), []], [
    /an empty batch came right after/,
  ]],
  ["a batch follows initialize, the notification first", [
    request("initialize"),
    [notification("notifications/initialized"), request("ping")],
  ], []],
  ["a batch follows initialize, a request first", [
    request("initialize"),
    [request("ping"), notification("notifications/initialized")],
  ], [/"ping" came right after/]],
  ["a stateless request comes in between", [
    request("initialize"),
    request("tools/list", { _meta: STATELESS }),
    notification("notifications/initialized"),
  ], []],
  ["only stateless requests come", [
    request("tools/list", { _meta: STATELESS }),
  ], []],
];
for (const [title, messages, expected] of WARNED) {
  Deno.test(`dispatch() warns ${expected.length} times and serves when ${title}`, async () => {
    const { session, logged } = startSession();
    for (const message of messages) {
      const answer = await dispatch(message, session);
      if ("method" in message && "id" in message) {
        assertEquals(verdict(answer), [1, "result"]);
      }
    }
    const warnings = logged.filter((line) => line.startsWith("WARNING "));
    assertEquals(warnings.length, expected.length, warnings.join("\n"));
    expected.forEach((e, i) => assertEquals(e.test(warnings[i] ?? ""), true));
  });
}

const UNSUPPORTED = (requested: string): unknown => ({
  code: -32022,
  message: "Unsupported protocol version",
  data: { supported: statelessVersions, requested },
});
const META: [title: string, method: string, params: unknown, code: unknown][] =
  [
    ["params a number comes before all", "nope", 5, -32600],
    ["version not a string", "nope", {
      _meta: { ...STATELESS, [MetaKey.protocolVersion]: 7 },
    }, -32602],
    ["version null", "nope", {
      _meta: { ...STATELESS, [MetaKey.protocolVersion]: null },
    }, -32602],
    ["capabilities missing, version unknown", "nope", {
      _meta: { [MetaKey.protocolVersion]: "x" },
    }, -32602],
    ["capabilities an array", "nope", {
      _meta: { ...STATELESS, [MetaKey.clientCapabilities]: [] },
    }, -32602],
    ["version unknown, method unknown", "nope", {
      _meta: { ...STATELESS, [MetaKey.protocolVersion]: "x" },
    }, -32022],
    ["version of a handshake", "tools/list", {
      _meta: { ...STATELESS, [MetaKey.protocolVersion]: "2025-11-25" },
    }, -32022],
    ["version __proto__", "tools/list", {
      _meta: { ...STATELESS, [MetaKey.protocolVersion]: "__proto__" },
    }, -32022],
    ["method unknown", "nope", { _meta: STATELESS }, -32601],
    [
      "method unknown, params wrong",
      "nope",
      { _meta: STATELESS, cursor: 5 },
      -32601,
    ],
    [
      "initialize",
      "initialize",
      { _meta: STATELESS, protocolVersion: 5 },
      -32601,
    ],
    ["ping", "ping", { _meta: STATELESS }, -32601],
    ["cursor", "tools/list", { _meta: STATELESS, cursor: "" }, -32602],
    [
      "notifications missing",
      "subscriptions/listen",
      { _meta: STATELESS },
      -32602,
    ],
    ["clientInfo missing", "tools/list", { _meta: STATELESS }, "result"],
  ];
for (const [title, method, params, code] of META) {
  Deno.test(`dispatch() checks a stateless request in order: ${title}`, () => {
    for (const { session } of [startSession(), startSession("2024-11-05")]) {
      const answer = dispatch(request(method, params), session);
      assertEquals(verdict(answer), [1, code]);
    }
  });
}

Deno.test("dispatch() names the versions it serves when a request's is another", () => {
  const requested = "2025-11-25";
  const _meta = { ...STATELESS, [MetaKey.protocolVersion]: requested };
  const answer = dispatch(request("server/discover", { _meta }), {});
  const error: unknown = UNSUPPORTED(requested);
  assertEquals<unknown>(answer, { jsonrpc: "2.0", id: 1, error });
});

Deno.test("dispatch() names the key of _meta that is missing", () => {
  const _meta = { [MetaKey.protocolVersion]: "2026-07-28" };
  const answer = dispatch(request("tools/list", { _meta }), {});
  assertStringIncludes(messageOf(answer), MetaKey.clientCapabilities);
});

Deno.test("dispatch() goes by the one key of _meta, not by others", () => {
  for (
    const _meta of [
      { "io.modelcontextprotocol/logLevel": "info" },
      { [MetaKey.clientCapabilities]: {} },
      { progressToken: 0 },
      [MetaKey.protocolVersion],
      MetaKey.protocolVersion,
    ]
  ) {
    const { session } = startSession("2025-11-25");
    const answer = dispatch(request("ping", { _meta }), session);
    assertEquals<unknown>(answer, { jsonrpc: "2.0", id: 1, result: {} });
  }
});

Deno.test("dispatch() serves both eras in turn, neither changing the other", () => {
  const { session } = startSession();
  const discover = request("server/discover", { _meta: STATELESS });
  const initialize = request("initialize", { protocolVersion: "2025-03-26" });
  const modern = JSON.stringify(dispatch(discover, {}));
  assertEquals(JSON.stringify(dispatch(discover, session)), modern);
  assertEquals(
    JSON.stringify(dispatch(initialize, session)),
    JSON.stringify(dispatch(initialize, {})),
  );
  assertEquals(JSON.stringify(dispatch(discover, session)), modern);
  assertEquals(verdict(dispatch(request("server/discover"), session)), [
    1,
    -32601,
  ]);
  assertEquals(
    verdict(dispatch(request("initialize", { _meta: STATELESS }), session)),
    [1, -32601],
  );
  assertEquals(session.revision?.protocolVersion, "2025-03-26");
  assertEquals<unknown>(dispatch(request("ping"), session), {
    jsonrpc: "2.0",
    id: 1,
    result: {},
  });
});

const STRICT: [title: string, method: string, params: object, code: unknown][] =
  [
    ["tools/list", "tools/list", {}, -32602],
    ["tools/call", "tools/call", { name: "nope" }, -32602],
    ["an unknown method", "nope", {}, -32602],
    ["ping", "ping", {}, "result"],
    ["initialize", "initialize", {}, "result"],
    ["a stateless request", "tools/list", { _meta: STATELESS }, "result"],
  ];
for (const [title, method, params, code] of STRICT) {
  Deno.test(`dispatch() gives ${code} when strict and first comes ${title}`, () => {
    const { session, logged } = startSession();
    session.strict = true;
    const answer = dispatch(request(method, params), session);
    assertEquals(verdict(answer), [1, code]);
    if (code === "result") return;
    assertStringIncludes(messageOf(answer), '"initialize"');
    assertStringIncludes(messageOf(answer), MetaKey.protocolVersion);
    assertEquals(logged, []);
  });
}

const PING = request("ping", undefined, "p");
const BATCHES: [title: string, batch: unknown[], verdicts: unknown][] = [
  ["two requests", [PING, request("nope", {}, 2)], [["p", "result"], [
    2,
    -32601,
  ]]],
  ["one request", [PING], [["p", "result"]]],
  ["requests and a notification", [notification("x"), PING], [["p", "result"]]],
  ["two of the same id", [PING, PING], [["p", "result"], ["p", "result"]]],
  ["invalid entries", [1, null, [], [PING], { id: 3 }], [
    ...Array.from({ length: 4 }, () => [null, -32600]),
    [3, -32600],
  ]],
  ["initialize inside", [request("initialize", {}, "i"), PING], [
    ["i", -32600],
    ["p", "result"],
  ]],
  [
    "a stateless request inside",
    [request("tools/list", { _meta: STATELESS })],
    [
      [1, -32600],
    ],
  ],
  ["an async tool, in order", [
    request("tools/call", { name: "later" }, 0),
    PING,
  ], [
    [0, "result"],
    ["p", "result"],
  ]],
  ["nothing", [], [null, -32600]],
];
for (const [title, batch, expected] of BATCHES) {
  Deno.test(`dispatch() answers a batch by revision when it holds ${title}`, async () => {
    for (const { protocolVersion, batches, opening } of revisions.values()) {
      if (opening === "request") continue;
      const { session } = startSession(protocolVersion);
      const answer = await dispatch(batch, session);
      assertEquals(verdict(answer), batches ? expected : [null, -32600]);
      const { revision } = session;
      assertEquals(revision?.protocolVersion, protocolVersion);
    }
  });
}

Deno.test("dispatch() gives nothing for a batch that asks nothing", async () => {
  const { session } = startSession("2025-03-26");
  const batch = [notification("x"), { jsonrpc: "2.0", id: 1, result: {} }];
  assertEquals(await dispatch(batch, session), undefined);
});

Deno.test("dispatch() answers a batch of 100,000", async () => {
  const { session } = startSession("2025-03-26");
  const answer = await dispatch(Array(100_000).fill(PING), session);
  assertEquals(Array.isArray(answer) && answer.length, 100_000);
});

Deno.test("dispatch() refuses a batch whose answers are longer than a message may be", async () => {
  const { session } = startSession("2025-03-26");
  const answer = await dispatch(Array(10_000_000).fill(0), session);
  assertEquals(verdict(answer), [null, -32600]);
  assertMatch(
    JSON.stringify(answer),
    /the answers to the batch are over 67108864 characters after \d+ of 10000000/,
  );
});

Deno.test("dispatch() takes a batch before any initialize, as in the oldest revision", async () => {
  assertEquals(verdict(await dispatch([PING], {})), [["p", "result"]]);
});

Deno.test("dispatch() answers without a promise when no async tool is called", () => {
  const messages = [request("initialize"), PING, request("tools/list")];
  for (const message of messages) {
    assertEquals(dispatch(message, {}) instanceof Promise, false);
  }
});
