import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import {
  classifyMessage,
  describe,
  ErrorCode,
  errorResponse,
  isObject,
  type RequestId,
  resultResponse,
} from "../../protocol/jsonrpc.ts";

/** Read as it comes off the wire, so that `__proto__` and `1e400` are what they are there. */
function classify(json: string): ReturnType<typeof classifyMessage> {
  return classifyMessage(JSON.parse(json));
}

/** A request with the members given, as JSON. */
function request(members: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"ping",${members}}`;
}

const IDS: [json: string, id: RequestId][] = [
  ["0", 0],
  ["-1", -1],
  ["1.0", 1],
  ["1.5", 1.5],
  ["1e-7", 1e-7],
  ["9007199254740991", 9007199254740991],
  ["-9007199254740991", -9007199254740991],
  ['""', ""],
  ['"0"', "0"],
  ['"01"', "01"],
  ['"__proto__"', "__proto__"],
  [`"${"x".repeat(10_000)}"`, "x".repeat(10_000)],
];

for (const [json, id] of IDS) {
  Deno.test(`classifyMessage() keeps the id ${json.slice(0, 20)}`, () => {
    const classified = classify(`{"jsonrpc":"2.0","method":"x","id":${json}}`);
    assert(classified.kind === "request");
    assertStrictEquals(classified.message.id, id);
  });
}

const BAD_IDS: [json: string, what: string][] = [
  ["null", "null"],
  ["true", "true"],
  ["[]", "an array"],
  ["[1]", "an array"],
  ["{}", "an object"],
  ["1e400", "Infinity"],
  ["-1e400", "-Infinity"],
  ["1152921504606846976", "1152921504606847000"],
  ["9007199254740992", "9007199254740992"],
  ["9007199254740993", "9007199254740992"],
];

for (const [json, what] of BAD_IDS) {
  Deno.test(`classifyMessage() refuses the id ${json}, and repeats none`, () => {
    assertEquals(classify(`{"jsonrpc":"2.0","method":"x","id":${json}}`), {
      kind: "invalid",
      id: null,
      reason: `member "id" is ${what}, expected a string or a finite number, ` +
        "safe where it is whole",
    });
    assertEquals(classify(`{"method":"x","id":${json}}`), {
      kind: "invalid",
      id: null,
      reason: 'member "jsonrpc" is missing, expected "2.0"',
    });
  });
}

const NO_VERSION = 'member "jsonrpc" is missing, expected "2.0"';
const INVALID: [json: string, id: RequestId | null, reason: string][] = [
  ["5", null, "value is 5, expected an object"],
  ["null", null, "value is null, expected an object"],
  ['"x"', null, 'value is "x", expected an object'],
  ["[]", null, "value is an array, expected an object"],
  ["{}", null, NO_VERSION],
  ['{"id":1,"method":"x"}', 1, NO_VERSION],
  ['{"id":"a","method":"x"}', "a", NO_VERSION],
  ['{"id":1,"result":{}}', 1, NO_VERSION],
  [
    '{"id":0,"jsonrpc":"1.0","method":"x"}',
    0,
    'member "jsonrpc" is "1.0", expected "2.0"',
  ],
  [
    '{"id":0,"jsonrpc":2.0,"method":"x"}',
    0,
    'member "jsonrpc" is 2, expected "2.0"',
  ],
  [
    '{"id":0,"jsonrpc":null,"method":"x"}',
    0,
    'member "jsonrpc" is null, expected "2.0"',
  ],
  ['{"__proto__":{"jsonrpc":"2.0","method":"x"}}', null, NO_VERSION],
  ['{"jsonrpc":"2.0"}', null, 'member "method" is missing, expected a string'],
  [
    '{"jsonrpc":"2.0","id":1}',
    1,
    'member "method" is missing, expected a string',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"method":7}',
    1,
    'member "method" is 7, expected a string',
  ],
  [
    '{"jsonrpc":"2.0","method":null}',
    null,
    'member "method" is null, expected a string',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"method":null,"result":{}}',
    1,
    'member "method" is null, expected a string',
  ],
  [request('"params":5'), 1, 'member "params" is 5, expected an object'],
  [request('"params":"x"'), 1, 'member "params" is "x", expected an object'],
  [
    request('"params":false'),
    1,
    'member "params" is false, expected an object',
  ],
];

for (const [json, id, reason] of INVALID) {
  Deno.test(`classifyMessage() refuses ${json}`, () => {
    assertEquals(classify(json), { kind: "invalid", id, reason });
  });
}

const VALID: [kind: string, json: string][] = [
  ["request", request('"params":{}')],
  ["request", request('"params":[]')],
  ["request", request('"params":null')],
  ["request", request('"result":{}')],
  ["request", request('"extra":1')],
  ["request", '{"jsonrpc":"2.0","id":1,"method":""}'],
  ["request", '{"jsonrpc":"2.0","id":1,"method":"__proto__"}'],
  ["notification", '{"jsonrpc":"2.0","method":"x"}'],
  ["notification", '{"jsonrpc":"2.0","method":"x","params":5}'],
  ["notification", '{"jsonrpc":"2.0","method":"x","__proto__":{"id":1}}'],
  ["response", '{"jsonrpc":"2.0","id":1,"result":{}}'],
  ["response", '{"jsonrpc":"2.0","id":1,"result":null}'],
  ["response", '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}'],
  ["response", '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'],
  ["response", '{"jsonrpc":"2.0","error":5}'],
];

for (const [kind, json] of VALID) {
  Deno.test(`classifyMessage() takes ${json} for a ${kind}, as it is`, () => {
    const value = JSON.parse(json);
    const classified = classifyMessage(value);
    assert(classified.kind !== "invalid");
    assertEquals(classified.kind, kind);
    assertStrictEquals<unknown>(classified.message, value);
    assertEquals(JSON.stringify(value), json);
  });
}

const ANSWERS: [answer: object, json: string][] = [
  [resultResponse(0, {}), '{"jsonrpc":"2.0","id":0,"result":{}}'],
  [resultResponse("", []), '{"jsonrpc":"2.0","id":"","result":[]}'],
  [resultResponse("1", null), '{"jsonrpc":"2.0","id":"1","result":null}'],
  [
    errorResponse(null, { message: "m", code: -32700 }),
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}',
  ],
  [
    errorResponse(1, { data: null, message: "m", code: 1 }),
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":null}}',
  ],
  [
    errorResponse(1, { code: 1, message: "m", data: undefined }),
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}',
  ],
];

for (const [answer, json] of ANSWERS) {
  Deno.test(`resultResponse() and errorResponse() give ${json}, keys in this order`, () => {
    assertEquals(JSON.stringify(answer), json);
  });
}

Deno.test("ErrorCode holds the codes of JSON-RPC 2.0 §5.1 and MCP's one", () => {
  assertEquals(ErrorCode, {
    ParseError: -32700,
    InvalidRequest: -32600,
    MethodNotFound: -32601,
    InvalidParams: -32602,
    InternalError: -32603,
    UnsupportedProtocolVersion: -32022,
  });
});

Deno.test("isObject() takes objects with members, and neither null nor arrays", () => {
  const values = [{}, Object.create(null), [], null, undefined, "{}", 0];
  const objects = values.map(isObject);
  assertEquals(objects, [true, true, false, false, false, false, false]);
});

const DESCRIBED: [value: unknown, text: string][] = [
  ["", '""'],
  ["run", '"run"'],
  ['a"\n\u001b', String.raw`"a\"\n\u001b"`],
  ["x".repeat(80), `"${"x".repeat(80)}"`],
  ["x".repeat(81), `"${"x".repeat(80)}"… (81 characters)`],
  [
    "x".repeat(79) + "🎉",
    String.raw`"${"x".repeat(79)}\ud83c"… (81 characters)`,
  ],
  [1e400, "Infinity"],
  [-1.5, "-1.5"],
  [true, "true"],
  [null, "null"],
  [undefined, "missing"],
  [{ a: 1 }, "an object"],
  [[1], "an array"],
];

for (const [value, text] of DESCRIBED) {
  Deno.test(`describe() gives ${JSON.stringify(text.slice(-40))}`, () => {
    assertEquals(describe(value), text);
  });
}
