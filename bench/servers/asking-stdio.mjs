// A minimal legacy MCP server on stdio that sends requests to its callers: `echo`, and `ask`, which answers after its
// request is answered. No SDK.
import { createInterface } from "node:readline";

const TOOLS = [
  {
    name: "echo",
    description: "Echoes a text",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  { name: "ask", description: "Asks its caller", inputSchema: { type: "object" } },
];
const asking = new Map();
let lastQuestion = 0;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === undefined) return answered(id);
  if (method === "tools/call" && params.name === "ask") return ask(id);
  send({ id, ...answer(method, params) });
});

function ask(call) {
  const id = `question ${(lastQuestion += 1)}`;
  asking.set(id, call);
  send({
    id,
    method: "elicitation/create",
    params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
  });
}

function answered(question) {
  send({ id: asking.get(question), result: { content: [{ type: "text", text: "asked" }] } });
  asking.delete(question);
}

function answer(method, params) {
  if (method === "initialize")
    return {
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "asking", version: "1" },
      },
    };
  if (method === "tools/list") return { result: { tools: TOOLS } };
  if (method === "tools/call") return { result: { content: [{ type: "text", text: params.arguments.text }] } };
  if (method === "ping") return { result: {} };
  return { error: { code: -32601, message: "Method not found" } };
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
