import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  FramingError,
  InvalidArgumentsError,
  messageOf,
  ProtocolError,
  ToolError,
  TransportError,
} from "../../protocol/errors.ts";

const CAUSE = new Error("why");
const CLASSES = [
  Error,
  ToolError,
  ProtocolError,
  InvalidArgumentsError,
  TransportError,
  FramingError,
];

const FAMILY: [error: Error, is: string[]][] = [
  [new ToolError("m", { cause: CAUSE }), ["Error", "ToolError"]],
  [
    new ProtocolError("m", { code: 1, cause: CAUSE }),
    ["Error", "ProtocolError"],
  ],
  [
    new InvalidArgumentsError("m", { cause: CAUSE }),
    ["Error", "ProtocolError", "InvalidArgumentsError"],
  ],
  [new TransportError("m", { cause: CAUSE }), ["Error", "TransportError"]],
  [
    new FramingError("m", { cause: CAUSE }),
    ["Error", "TransportError", "FramingError"],
  ],
];

for (const [error, is] of FAMILY) {
  Deno.test(`${error.name} is told from the others by its class`, () => {
    const names = CLASSES.filter((one) => error instanceof one)
      .map((one) => one.name);
    assertEquals(names, is);
    assertEquals(error.name, is.at(-1));
  });

  Deno.test(`${error.name} keeps its message and its cause`, () => {
    assertEquals(error.message, "m");
    assertStrictEquals(error.cause, CAUSE);
    assertEquals(String(error), `${error.name}: m`);
  });
}

Deno.test("ProtocolError carries the peer's code and data, undefined where there are none", () => {
  const data = { supported: [] };
  const full = new ProtocolError("m", { code: -32022, data });
  assertEquals(full.code, -32022);
  assertStrictEquals(full.data, data);
  const bare = new ProtocolError("m", { code: 0 });
  assertEquals([bare.code, bare.data, bare.cause], [0, undefined, undefined]);
});

Deno.test("InvalidArgumentsError has the code -32602", () => {
  const error = new InvalidArgumentsError("m");
  assertEquals([error.code, error.data, error.cause], [
    -32602,
    undefined,
    undefined,
  ]);
});

Deno.test("messageOf() gives an error's message, and anything else as text", () => {
  const thrown = [new TypeError("gone"), "gone", 5, Object.create(null)];
  assertEquals(thrown.map(messageOf), [
    "gone",
    "gone",
    "5",
    "a value that cannot be shown",
  ]);
});
