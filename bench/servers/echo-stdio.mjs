// The smallest complete legacy MCP server on stdio: one `echo` tool, one `die` tool, no SDK, so that only the hub is
// measured.
import { createInterface } from "node:readline";

const TOOLS = [
  {
    name: "echo",
    description: "Echoes a text",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  { name: "die", description: "Ends the server", inputSchema: { type: "object" } },
];

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call" && params.name === "die") process.exit(1);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params) })}\n`);
});

function answer(method, params) {
  if (method === "initialize")
    return {
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1" },
      },
    };
  if (method === "tools/list") return { result: { tools: TOOLS } };
  if (method === "tools/call") return { result: { content: [{ type: "text", text: params.arguments.text }] } };
  if (method === "ping") return { result: {} };
  return { error: { code: -32601, message: "Method not found" } };
}
