// mcp-use has no gateway program: a program must call `MCPServer.proxy`. Its own client is not in the registry, so it
// gets a connection of the SDK's client, which it also accepts. Prints its port.
import { MCPServer } from "mcp-use";
import { connectUpstream } from "./upstream.mjs";

const client = await connectUpstream(process.argv.slice(2));
const server = new MCPServer({ name: "gateway", version: "1.0.0" });
await server.proxy({
  info: { server: { name: "echo" } },
  supports: (capability) => capability === "tools",
  listTools: async () => (await client.listTools()).tools,
  callTool: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
  readResource: (uri) => client.readResource({ uri }),
  listPrompts: async () => (await client.listPrompts()).prompts,
  getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
});
const { port } = await server.listen(0, { host: "127.0.0.1" });
console.log(port);
process.once("disconnect", () => process.exit());
