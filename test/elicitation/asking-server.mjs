// `node asking-server.mjs <kind> [stage=<port>] [deaf] [sse]`: serves `asking.mjs` on stdio, or over HTTP+SSE. There
// each connection is a separate server, and the first printed line is the address.
import { createServer } from "node:http";
import { onMessage, send } from "../fixtures/upstreams/wire.mjs";
import { openStage } from "./asking-stage.mjs";
import { createAsking } from "./asking.mjs";

const [kind, ...words] = process.argv.slice(2);
const port = words.find((word) => word.startsWith("stage="))?.slice("stage=".length);
const isDeaf = words.includes("deaf");
let connections = 0;

function open(sendOne) {
  const instance = `${process.pid}.${(connections += 1)}`;
  const stage = openStage(port === undefined ? undefined : Number(port), instance);
  stage.report("started", {});
  return createAsking({ kind, instance, stage, isDeaf, send: sendOne });
}

if (words.includes("sse")) serve();
else onMessage(open(send));

function serve() {
  const handlers = new Map();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    const session = searchParams.get("session");
    if (request.method === "GET" && pathname === "/sse") return stream(response);
    if (request.method !== "POST" || !handlers.has(session)) return void response.writeHead(404).end();
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      response.writeHead(202).end();
      handlers.get(session)?.(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    });
  });
  const stream = (response) => {
    const session = String(handlers.size + 1);
    const write = (event, data) => void response.write(`event: ${event}\ndata: ${data}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    write("endpoint", `/messages?session=${session}`);
    handlers.set(
      session,
      open((message) => write("message", JSON.stringify({ jsonrpc: "2.0", ...message }))),
    );
  };
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/sse`));
}
