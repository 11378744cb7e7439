/**
 * The lab's six tests, by its names: the client against the real server.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  InvalidArgumentsError,
  type MCPClient,
  ProtocolError,
  ToolError,
} from "../client.ts";
import { isRunning, mayRun, ourServer, withClient } from "./_clients.ts";

const EAT = { verb: "eat", tense: "past_simple", person: "3sg" };

/** Use an opened client of the real server; gives all that was sent. */
async function roundtrip(
  use: (client: MCPClient) => unknown,
): Promise<string[]> {
  const sent: string[] = [];
  await withClient(ourServer(), {
    onMessage: (direction, message) => {
      if (direction === ">") sent.push(JSON.stringify(message));
    },
  }, async (client) => {
    await client.initialize();
    await use(client);
  });
  return sent;
}

function test(name: string, use: () => Promise<void>): void {
  Deno.test(name, { ignore: !mayRun }, use);
}

test("test_initialize_returns_tools_capability", async () => {
  await withClient(ourServer(), {}, async (client) => {
    const result = await client.initialize();
    assertEquals(result, {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "miniagent-server", version: "0.1" },
    });
  });
});

// Tools that are not the lab's come after its four.
test("test_list_tools_returns_four", async () => {
  await roundtrip(async (client) => {
    const tools = await client.listTools();
    assertEquals(tools.map(({ name }) => name).slice(0, 4), [
      "conjugate",
      "lookup_irregular_verb",
      "lookup_spanish",
      "check_subject_verb_agreement",
    ]);
    assert(tools.every(({ inputSchema }) => inputSchema["type"] === "object"));
  });
});

test("test_call_conjugate_returns_ate", async () => {
  await roundtrip(async (client) => {
    await client.listTools();
    assertEquals(await client.callTool("conjugate", EAT), "ate");
  });
});

test("test_call_with_invalid_args_raises_protocol_error", async () => {
  const sent = await roundtrip(async (client) => {
    await client.listTools();
    const wrongTense = await assertRejects(
      () => client.callTool("conjugate", { ...EAT, tense: "past" }),
      ProtocolError,
      '/tense: value is "past", expected one of "infinitive"',
    );
    assertInstanceOf(wrongTense, InvalidArgumentsError);
    assertEquals(wrongTense.code, -32602);
    // An out-of-scope verb passes the schema: the tool itself says no.
    const outOfScope = await assertRejects(
      () => client.callTool("conjugate", { ...EAT, verb: "run" }),
      ToolError,
    );
    assertStringIncludes(outOfScope.message, '"eat"');
  });
  const calls = sent.filter((message) => message.includes("tools/call"));
  assertEquals(calls.length, 1);
  assertStringIncludes(calls[0] ?? "", '"verb":"run"');
});

test("test_unknown_tool_raises_protocol_error", async () => {
  await roundtrip(async (client) => {
    await client.listTools();
    const error = await assertRejects(
      () => client.callTool("run", {}),
      ProtocolError,
      "Unknown tool: 'run'",
    );
    assertEquals(error.code, -32602);
    assert(!(error instanceof InvalidArgumentsError));
  });
});

test("test_client_cleans_up_on_exception", async () => {
  const server = ourServer();
  let wasRunning = false;
  await assertRejects(
    () =>
      withClient(server, {}, async (client) => {
        await client.initialize();
        wasRunning = await isRunning(server.mark);
        throw new Error("of the block");
      }),
    Error,
    "of the block",
  );
  assert(wasRunning);
  assertEquals(await isRunning(server.mark), false);
});
