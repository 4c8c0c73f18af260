// A stdio server with one tool that returns its arguments, and some that fail. `node pipe-server.mjs <tool> …`
import { rawMember } from "../fixtures/raw/raw-json.mjs";
import { onMessage, send, sendText, text, tool } from "../fixtures/upstreams/wire.mjs";

const CALLS = {
  // Returns the received text of the arguments, with every digit.
  "say.here": (id, _args, line) => {
    const args = rawMember(line, "params", "arguments");
    const content = `[{"type":"text","text":${JSON.stringify(args)}}]`;
    sendText(`{"jsonrpc":"2.0","id":${id},"result":{"content":${content},"structuredContent":${args}}}`);
  },
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
  "tools/call": (id, { name, arguments: args }, line) => CALLS[name](id, args, line),
};

onMessage(({ id, method, params }, line) => {
  if (id === undefined || method === undefined) return;
  const run = METHODS[method];
  if (run) run(id, params, line);
  else send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
});
