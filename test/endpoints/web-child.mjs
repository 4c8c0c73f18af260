// A server on HTTP in its own process, without the SDK and sessions: `node web-child.mjs <port>`. Prints its port.
import { createServer } from "node:http";

const TOOLS = [{ name: "waits", description: "Waits for so many milliseconds.", inputSchema: { type: "object" } }];
const METHODS = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "web", version: "1" },
  }),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": async ({ arguments: { ms } }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return { content: [{ type: "text", text: "waited" }] };
  },
};

const server = createServer(async (request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  let body = "";
  for await (const chunk of request) body += chunk;
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return void response.writeHead(202).end();
  const run = METHODS[method];
  const answer = run ? { result: await run(params) } : { error: { code: -32601, message: "Method not found" } };
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0));
