// A server on stdio with one tool that says what it is told, and some that fail. `node pipe-server.mjs <tool> …`
import { onMessage, send, text, tool } from "../fixtures/upstreams/wire.mjs";

const CALLS = {
  "say.here": (id, args) => send({ id, result: text(JSON.stringify(args), { structuredContent: args }) }),
  twin: (id) => send({ id, result: text("one of two") }),
  pid: (id) => send({ id, result: text(String(process.pid)) }),
  waits: (id, { ms }) => void setTimeout(() => send({ id, result: text("waited") }), ms),
  die: () => process.exit(7),
  nonsense: (id) => send({ id, result: { content: "not an array" } }),
};

const METHODS = {
  initialize: (id) =>
    send({
      id,
      result: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "pipe", version: "1" },
      },
    }),
  ping: (id) => send({ id, result: {} }),
  "tools/list": (id) => send({ id, result: { tools: process.argv.slice(2).map((name) => tool(name)) } }),
  "tools/call": (id, { name, arguments: args }) => CALLS[name](id, args),
};

onMessage(({ id, method, params }) => {
  if (id === undefined || method === undefined) return;
  const run = METHODS[method];
  if (run) run(id, params);
  else send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
});
