// A server of a few lines that starts immediately: it returns its input, and prints its process id.

export const SERVER = `import { createInterface } from "node:readline";
const tool = (name) => ({ name, description: "Does " + name,
  inputSchema: { type: "object", properties: { text: { type: "string" } } } });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: "small", version: "1" } }),
  "tools/list": () => ({ tools: [tool("echo"), tool("pid"), tool("cwd")] }),
  "tools/call": ({ name, arguments: { text = "" } = {} }) => ({
    content: [{ type: "text", text: name === "pid" ? String(process.pid) : name === "cwd" ? process.cwd() : text }] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  console.log(JSON.stringify(answer ? { jsonrpc: "2.0", id, result: answer(params ?? {}) } : { jsonrpc: "2.0", id,
    error: { code: -32601, message: "Method not found" } }));
});
`;
