// A stdio server whose tools return the name of the server and of the tool: `node named-server.mjs <name> <tool> …`
import { onMessage, send, text, tool } from "../fixtures/upstreams/wire.mjs";

const [own, ...tools] = process.argv.slice(2);

const METHODS = {
  initialize: (id) =>
    send({
      id,
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: own, version: "1" } },
    }),
  ping: (id) => send({ id, result: {} }),
  "tools/list": (id) => send({ id, result: { tools: tools.map((name) => tool(name)) } }),
  "tools/call": (id, { name }) => send({ id, result: text(`${own}: ${name} was called`) }),
};

onMessage(({ id, method, params }) => {
  if (id === undefined || method === undefined) return;
  const run = METHODS[method];
  if (run) run(id, params);
  else send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
});
