// An ordinary server on the most used SDK (version 1): `echo`, `large`, `progress`. Without arguments it uses stdio;
// with `http` it serves Streamable HTTP, a session per client as in the SDK's own examples, and prints its port.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { serveSessions } from "../lib/sdk-sessions.mjs";

const schema = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const TOOLS = [
  { name: "echo", description: "Echoes a text", inputSchema: schema({ text: { type: "string" } }) },
  {
    name: "large",
    description: "Answers with as many bytes of text",
    inputSchema: schema({ bytes: { type: "integer" } }),
  },
  {
    name: "progress",
    description: "Sends as many progress notifications, then answers",
    inputSchema: schema({ times: { type: "integer" } }),
  },
];
const LINE = "some ordinary line of text that ends here\n";
const texts = new Map();

function largeText(bytes) {
  if (!texts.has(bytes)) texts.set(bytes, LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes));
  return texts.get(bytes);
}

async function call({ name, arguments: args = {}, _meta }, notify) {
  if (name === "echo") return args.text;
  if (name === "large") return largeText(args.bytes);
  for (let at = 1; at <= args.times; at += 1) {
    await notify({
      method: "notifications/progress",
      params: { progressToken: _meta?.progressToken ?? 0, progress: at, total: args.times },
    });
  }
  return "done";
}

function createEcho() {
  const server = new Server({ name: "echo", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => ({
    content: [{ type: "text", text: await call(params, sendNotification) }],
  }));
  return server;
}

if (process.argv[2] === "http")
  serveSessions(StreamableHTTPServerTransport, (transport) => createEcho().connect(transport));
else await createEcho().connect(new StdioServerTransport());
process.once("disconnect", () => process.exit());
