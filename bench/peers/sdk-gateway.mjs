// The v1 SDK's client and server back to back, one client for everybody: the gateway that takes an afternoon. Prints its port.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { serveSessions } from "./sdk-server.mjs";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "gateway", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
serveSessions(async (transport) => {
  const server = new Server({ name: "gateway", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params));
  await server.connect(transport);
});
