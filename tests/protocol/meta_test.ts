import { assertEquals } from "@std/assert";
import { MetaKey } from "../../protocol/_meta.ts";

Deno.test("MetaKey has the prefix that MCP reserves, and each name's own word", () => {
  for (const [name, key] of Object.entries(MetaKey)) {
    assertEquals(key, `io.modelcontextprotocol/${name}`);
  }
});
