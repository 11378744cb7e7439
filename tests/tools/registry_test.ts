import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { register, registeredTools, type Tool } from "../../tools/registry.ts";

const add: Tool = {
  name: "add",
  description: "Add two numbers",
  inputSchema: { type: "object" },
  fn: ({ a, b }) => a + b,
};

/** What a caller without a type checker could pass. */
function broken(members: Record<string, unknown>): Tool {
  return { ...add, ...members } as Tool;
}

Deno.test("registeredTools is empty until something is registered", () => {
  assertEquals(registeredTools.size, 0);
});

Deno.test("register() keeps the order of registration", () => {
  registeredTools.clear();
  for (const name of ["b", "a", "c"]) register({ ...add, name });
  assertEquals([...registeredTools.keys()], ["b", "a", "c"]);
});

Deno.test("register() keeps the tool itself", () => {
  registeredTools.clear();
  register(add);
  assertEquals(registeredTools.get("add") === add, true);
});

Deno.test("register() takes every name of 1 to 128 allowed characters", () => {
  registeredTools.clear();
  const names = ["x", "A.b_c-9", "__proto__", "constructor", "y".repeat(128)];
  for (const name of names) register({ ...add, name });
  assertEquals([...registeredTools.keys()], names);
});

const REFUSED: { when: string; tool: Tool; message: string }[] = [
  {
    when: "an empty name",
    tool: broken({ name: "" }),
    message: 'Cannot register tool "": expected a name of 1 to 128 characters',
  },
  {
    when: "a name of 129 characters",
    tool: broken({ name: "y".repeat(129) }),
    message: "expected a name of 1 to 128 characters",
  },
  {
    when: "a name with a space",
    tool: broken({ name: "add two" }),
    message: 'Cannot register tool "add two"',
  },
  {
    when: "a name that ends in a line break",
    tool: broken({ name: "add\n" }),
    message: String.raw`Cannot register tool "add\n"`,
  },
  {
    when: "a name with a letter outside ASCII",
    tool: broken({ name: "añadir" }),
    message: 'Cannot register tool "añadir"',
  },
  {
    when: "a name that is not a string",
    tool: broken({ name: 1 }),
    message: "Cannot register tool 1",
  },
  {
    when: "a missing description",
    tool: broken({ description: undefined }),
    message: 'Cannot register tool "add": description is missing',
  },
  {
    when: "a missing fn",
    tool: broken({ fn: undefined }),
    message: 'Cannot register tool "add": fn is missing, expected a function',
  },
  {
    when: "an fn that is no function",
    tool: broken({ fn: "add" }),
    message: 'Cannot register tool "add": fn is "add", expected a function',
  },
  {
    when: "a missing inputSchema",
    tool: broken({ inputSchema: undefined }),
    message: 'Cannot register tool "add": inputSchema is missing',
  },
  {
    when: "an inputSchema that is null",
    tool: broken({ inputSchema: null }),
    message: 'Cannot register tool "add": inputSchema is null, expected {"type',
  },
  {
    when: "an inputSchema of another type",
    tool: broken({ inputSchema: { type: "string" } }),
    message:
      'Cannot register tool "add": inputSchema.type is "string", expected "object"',
  },
  {
    when: "an outputSchema of another type",
    tool: broken({ outputSchema: { type: "string" } }),
    message:
      'Cannot register tool "add": outputSchema.type is "string", expected',
  },
];

for (const { when, tool, message } of REFUSED) {
  Deno.test(`register() refuses a tool with ${when}`, () => {
    registeredTools.clear();
    const error = assertThrows(() => register(tool), TypeError);
    assertStringIncludes(error.message, message);
    assertEquals(registeredTools.size, 0);
  });
}

Deno.test("register() refuses a second tool of the same name and keeps the first", () => {
  registeredTools.clear();
  register(add);
  assertThrows(
    () => register({ ...add }),
    TypeError,
    'Cannot register tool "add": a tool of that name is registered already',
  );
  assertEquals(registeredTools.get("add") === add, true);
});
