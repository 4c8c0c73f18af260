// An MCP server, on stdio or with `http` on a port that it prints. Its only tool returns JSON text of a requested kind
// and size, as structured content or at the place that `where` names.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const KINDS = {
  keys: (at) => `"k${at}":1`,
  rows: (at) => `"k${at % 20}":1`,
  objects: () => "{}",
  lists: () => "[]",
  texts: () => JSON.stringify('{"a":[{}]},'),
};

/** Returns as many items of a kind as fit into `bytes`, or `count` items. */
function many(kind, { bytes = Infinity, count = Infinity }) {
  const pieces = [];
  for (let at = 0, length = 0; length < bytes && at < count; at += 1) {
    const piece = KINDS[kind](at);
    pieces.push(piece);
    length += piece.length + 1;
  }
  if (kind === "keys") return `{${pieces.join(",")}}`;
  if (kind !== "rows") return `{"list":[${pieces.join(",")}]}`;
  const rows = [];
  for (let at = 0; at < pieces.length; at += 20) rows.push(`{${pieces.slice(at, at + 20).join(",")}}`);
  return `{"list":[${rows.join(",")}]}`;
}

const WHERE = {
  content: (value) => `{"content":[],"structuredContent":${value}}`,
  meta: (value) => `{"content":[],"_meta":${value}}`,
  block: (value) => `{"content":[{"type":"resource_link","uri":"a:b","name":"b","_meta":${value}}]}`,
};

function callOf(id, { kind, where = "content", ...size }) {
  const value = many(kind, size);
  if (where === "batch") return `[${many(kind, size)},{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}]`;
  if (where === "beside") return `{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"other":${value}}`;
  if (where === "error") return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"no","data":${value}}}`;
  return `{"jsonrpc":"2.0","id":${id},"result":${WHERE[where](value)}}`;
}

function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  if (method === "tools/call") return callOf(id, params.arguments);
  const results = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "wide", version: "1" },
    },
    "tools/list": { tools: [{ name: "wide", inputSchema: { type: "object" } }] },
  };
  const result = results[method];
  return JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) });
}

if (process.argv[2] === "http") {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body);
    const text = answer(message);
    if (text === undefined) return void response.writeHead(202).end();
    const isStream = message.params?.arguments?.as === "events";
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.end(isStream ? `data: ${text}\n\n` : text);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
} else {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const text = answer(JSON.parse(line));
    if (text !== undefined) process.stdout.write(`${text}\n`);
  });
}
