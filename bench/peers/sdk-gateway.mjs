// The SDK's own client and server back to back, with one client for all callers: a minimal gateway. Prints its port.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { serveSessions } from "../lib/sdk-sessions.mjs";
import { connectUpstream } from "./upstream.mjs";

const client = await connectUpstream(process.argv.slice(2));

function createGateway() {
  const server = new Server({ name: "gateway", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params: { _meta, ...params } }, { signal, sendNotification }) => {
      const progressToken = _meta?.progressToken;
      if (progressToken === undefined) return client.callTool(params, undefined, { signal });
      let told = Promise.resolve();
      const onprogress = (progress) => {
        told = told.then(() =>
          sendNotification({ method: "notifications/progress", params: { ...progress, progressToken } }),
        );
      };
      const result = await client.callTool(params, undefined, { signal, onprogress });
      await told;
      return result;
    },
  );
  return server;
}

serveSessions(StreamableHTTPServerTransport, (transport) => createGateway().connect(transport));
process.once("disconnect", () => process.exit());
