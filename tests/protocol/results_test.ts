import { assertEquals, assertThrows } from "@std/assert";
import { ProtocolError, ToolError } from "../../protocol/errors.ts";
import {
  type CallToolResult,
  supportsStateless,
  toCallToolResult,
  toObject,
  toToolPage,
  unwrap,
  withTools,
} from "../../protocol/_results.ts";

const IMAGE = { type: "image", data: "", mimeType: "image/png" };

function text(text: string): { type: string; text: string } {
  return { type: "text", text };
}

const VALUES: { of: string; result: CallToolResult; value: unknown }[] = [
  { of: "a bare text", result: { content: [text("ate")] }, value: "ate" },
  { of: "an empty text", result: { content: [text("")] }, value: "" },
  {
    of: "a JSON object",
    result: { content: [text('{"a":1}')] },
    value: { a: 1 },
  },
  { of: "a JSON number", result: { content: [text("42")] }, value: 42 },
  { of: "a JSON null", result: { content: [text("null")] }, value: null },
  { of: "a JSON text", result: { content: [text('"a"')] }, value: "a" },
  { of: "half a JSON", result: { content: [text("{a")] }, value: "{a" },
  { of: "no content", result: { content: [] }, value: [] },
  {
    of: "two texts",
    result: { content: [text("a"), text("b")] },
    value: [text("a"), text("b")],
  },
  { of: "an image", result: { content: [IMAGE] }, value: [IMAGE] },
  {
    of: "an unknown block with a text",
    result: { content: [{ type: "new", text: "1" }] },
    value: [{ type: "new", text: "1" }],
  },
  {
    of: "structured content beside text",
    result: { content: [text("x")], structuredContent: { a: 1 } },
    value: { a: 1 },
  },
  {
    of: "structured content that is false",
    result: { content: [text("x")], structuredContent: false },
    value: false,
  },
  {
    of: "structured content that is null",
    result: { content: [], structuredContent: null },
    value: null,
  },
  {
    of: "a result that is no error",
    result: { content: [text("ate")], isError: false },
    value: "ate",
  },
];

for (const { of, result, value } of VALUES) {
  Deno.test(`unwrap() gives the value of ${of}`, () => {
    assertEquals(unwrap(result), value);
  });
}

const SAID_NO: { with: string; result: CallToolResult; message: string }[] = [
  { with: "a text", result: { content: [text("No")] }, message: "No" },
  {
    with: "texts and an image between",
    result: { content: [text("a"), IMAGE, text("b")] },
    message: "a\nb",
  },
  {
    with: "an image only",
    result: { content: [IMAGE] },
    message: JSON.stringify([IMAGE]),
  },
  {
    with: "structured content only",
    result: { content: [], structuredContent: { why: 1 } },
    message: '{"why":1}',
  },
  { with: "nothing", result: { content: [] }, message: "[]" },
];

for (const { with: what, result, message } of SAID_NO) {
  Deno.test(`unwrap() throws a ToolError with ${what} when the tool said no`, () => {
    const error = assertThrows(
      () => unwrap({ ...result, isError: true }),
      ToolError,
    );
    assertEquals(error.message, message);
  });
}

Deno.test("toCallToolResult() keeps all members of a result", () => {
  const result = {
    content: [IMAGE, text("a")],
    isError: true,
    _meta: { a: 1 },
  };
  assertEquals(toCallToolResult(result), result);
});

Deno.test("toCallToolResult() takes structured content without content", () => {
  const result = { structuredContent: [1] };
  assertEquals(toCallToolResult(result), { ...result, content: [] });
});

for (
  const result of [
    null,
    [],
    "text",
    {},
    { content: null },
    { content: "text" },
    { content: [null] },
    { content: ["text"] },
    { content: [{}] },
    { content: [{ type: 1 }] },
    { content: [{ type: "text" }] },
    { content: [{ type: "text", text: 1 }] },
    { content: [], resultType: "input_required" },
    { content: [], resultType: null },
  ]
) {
  Deno.test(`toCallToolResult() refuses ${JSON.stringify(result)}`, () => {
    assertThrows(
      () => toCallToolResult(result),
      ProtocolError,
      'Cannot use the answer to "tools/call": ',
    );
  });
}

Deno.test("toObject() takes a complete result, said or not", () => {
  for (const result of [{}, { resultType: "complete" }]) {
    assertEquals(toObject("m", result), result);
  }
});

const TOOL = { name: "a", inputSchema: { type: "object" }, icons: [] };

Deno.test("toToolPage() gives tools as they are, and the cursor", () => {
  const cursors: [unknown, string | undefined][] = [
    [undefined, undefined],
    [null, undefined],
    ["", ""],
    ["next", "next"],
  ];
  for (const [nextCursor, expected] of cursors) {
    const page = toToolPage({ tools: [TOOL], nextCursor });
    assertEquals(page, { tools: [TOOL], nextCursor: expected });
  }
});

const WRONG_PAGES: [result: unknown, says: string][] = [
  [[], "result is an array, expected an object"],
  [{}, "tools is missing, expected an array"],
  [{ tools: {} }, "tools is an object, expected an array"],
  [{ tools: [null] }, "a tool has no name"],
  [{ tools: [{ ...TOOL, name: null }] }, "a tool has no name"],
  [{ tools: [{ name: "a\u001b" }] }, 'inputSchema of "a\\u001b" is missing'],
  [{ tools: [{ name: "a", inputSchema: true }] }, 'of "a" is true'],
  [{ tools: [], nextCursor: 1 }, "nextCursor is 1, expected a string"],
];

for (const [result, says] of WRONG_PAGES) {
  Deno.test(`toToolPage() refuses ${JSON.stringify(result)}`, () => {
    assertThrows(() => toToolPage(result), ProtocolError, says);
  });
}

Deno.test("supportsStateless() looks for a stateless revision in the list", () => {
  const verdicts: [unknown, boolean][] = [
    [["2026-07-28"], true],
    [["2099-01-01", "2026-07-28"], true],
    [["2025-11-25"], false],
    [[], false],
    ["2026-07-28", false],
    [undefined, false],
  ];
  for (const [supportedVersions, expected] of verdicts) {
    assertEquals(supportsStateless({ supportedVersions }), expected);
  }
});

Deno.test("withTools() takes a server that offers tools", () => {
  const result = { capabilities: { tools: {} }, instructions: "x" };
  assertEquals(withTools("initialize", result), result);
});

for (const capabilities of [undefined, null, {}, { tools: null }, []]) {
  Deno.test(`withTools() refuses capabilities ${JSON.stringify(capabilities)}`, () => {
    const error = assertThrows(
      () => withTools("initialize", { capabilities }),
      ProtocolError,
      'Cannot use the server: its answer to "initialize" offers no tools',
    );
    assertEquals(error.code, -32601);
  });
}
