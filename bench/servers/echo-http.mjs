// The smallest modern MCP server on HTTP: one `echo` tool, no SDK. Prints its port.
import { createServer } from "node:http";

const TOOLS = [
  {
    name: "echo",
    description: "Echoes a text",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
];

const server = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const body = JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params) });
    response
      .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      .end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.once("disconnect", () => process.exit());

function answer(method, params) {
  if (method === "server/discover")
    return {
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1" },
        ttlMs: 0,
        cacheScope: "public",
      },
    };
  if (method === "tools/list")
    return { result: { resultType: "complete", tools: TOOLS, ttlMs: 0, cacheScope: "public" } };
  if (method === "tools/call")
    return { result: { resultType: "complete", content: [{ type: "text", text: params.arguments.text }] } };
  return { error: { code: -32601, message: "Method not found" } };
}
