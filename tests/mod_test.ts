/**
 * The front door: what `mod.ts` exports, and that importing it has no effect.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import * as mod from "../mod.ts";
import * as tools from "../tools/mod.ts";
import { run } from "./_fixtures.ts";

const ignore =
  Deno.permissions.querySync({ name: "run" }).state !== "granted" ||
  Deno.permissions.querySync({ name: "read" }).state !== "granted";

const VALUES = [
  ...["classifyMessage", "ErrorCode", "errorResponse", "resultResponse"],
  ...["FramingError", "InvalidArgumentsError", "ProtocolError", "ToolError"],
  ...["TransportError", "PROTOCOL_VERSIONS", "revisions"],
  ...["DEFAULT_MAX_MESSAGE_BYTES", "encodeMessage", "MessageReader"],
  ...["MessageWriter", "readMessage", "writeMessage"],
  ...Object.keys(tools),
  ...["dispatch", "serve", "MCPClient"],
];

const TYPES = [
  ...["ClassifiedMessage", "JSONRPCError", "JSONRPCMessage"],
  ...["JSONRPCNotification", "JSONRPCRequest", "JSONRPCResponse", "RequestId"],
  ...["ProtocolErrorOptions", "ProtocolVersion", "Revision", "ToolField"],
  ...["Framing", "FramingOptions"],
  ...["JSONSchema", "Tool", "ToolAnnotations", "ToolIcon"],
  ...["Answer", "Implementation", "LogLevel", "ServeOptions", "Session"],
  ...["SessionLog"],
  ...["CallOptions", "CallToolResult", "ContentBlock", "Direction"],
  ...["InitializeResult", "ListedTool", "MCPClientOptions"],
];

Deno.test("mod.ts exports these values, and no others", () => {
  assertEquals(Object.keys(mod).sort(), VALUES.toSorted());
});

Deno.test("mod.ts exports these types, and no others", {
  ignore,
}, async () => {
  const { stdout } = await run(["deno", "doc", "--json", "mod.ts"]);
  const symbols = Object.values(JSON.parse(stdout).nodes)
    .flatMap((node) => (node as { symbols: { name: string }[] }).symbols);
  const names = new Set(symbols.map(({ name }) => name));
  assertEquals([...names].sort(), [...VALUES, ...TYPES].sort());
});

Deno.test("mod.ts registers, reads, writes and starts nothing when imported", {
  ignore,
}, async () => {
  const program = `
    import { registeredTools } from ${JSON.stringify(modURL())};
    console.log(registeredTools.size);
  `;
  const deno = ["deno", "run", "--quiet", "--no-prompt"];
  const answer = await run([...deno, dataURL(program)]);
  assertEquals(answer, { code: 0, stdout: "0\n", stderr: "" });
});

function modURL(): string {
  return import.meta.resolve("../mod.ts");
}

function dataURL(program: string): string {
  return `data:text/typescript,${encodeURIComponent(program)}`;
}
