/**
 * What the bare loops answer: the least that a client takes for a server with
 * the tool `conjugate`. It looks nothing up and validates nothing.
 *
 * @module
 */

const TOOL = {
  name: "conjugate",
  description: "Conjugate an English verb in one tense and person.",
  inputSchema: { type: "object" },
};

/**
 * Answer one line.
 *
 * @param line One JSON-RPC message.
 * @returns The answer and `\n`, or `""` for a notification.
 */
export function answer(line: string): string {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return "";
  const result = method === "tools/call"
    ? { content: [{ type: "text", text: "ate" }], isError: false }
    : method === "tools/list"
    ? { tools: [TOOL] }
    : {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "bare-loop", version: "0.1" },
    };
  return JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n";
}
