// The echo server of the comparison on HTTP, made with the v1 SDK as its examples show it: what a caller without a gateway asks. Prints its port.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const sessions = new Map();

export function serveSessions(connect) {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id) => sessions.set(id, transport) });
      await connect(transport);
    }
    await transport.handleRequest(request, response, text === "" ? undefined : JSON.parse(text));
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}

if (process.argv[1]?.endsWith("sdk-server.mjs")) {
  serveSessions(async (transport) => {
    const server = new McpServer({ name: "echo", version: "1" });
    server.registerTool("echo", { description: "Echoes a text", inputSchema: { text: z.string() } }, ({ text }) => ({ content: [{ type: "text", text }] }));
    await server.connect(transport);
  });
}
