// A load in a separate process: some callers, each on a persistent connection with one call in flight. It writes and
// reads raw bytes, so that it costs almost nothing compared with the measured program. Takes JSON as its one argument;
// prints `{calls, ms, p50, p99}`.
import { connect } from "node:net";

const { url, tool, args, callers, calls, warmUp } = JSON.parse(process.argv[2]);
const { hostname, port, host, pathname } = new URL(url);
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: tool, arguments: args, _meta },
});
const request = [
  `POST ${pathname} HTTP/1.1`,
  `host: ${host}`,
  "content-type: application/json",
  "accept: application/json, text/event-stream",
  "mcp-protocol-version: 2026-07-28",
  "mcp-method: tools/call",
  `mcp-name: ${tool}`,
  `content-length: ${Buffer.byteLength(body)}`,
  "",
  body,
].join("\r\n");
const END_OF_HEAD = Buffer.from("\r\n\r\n");

/** Opens one connection. Its `call` resolves when the whole answer has arrived. */
async function caller() {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let done;
  let left = -1;
  let waiting = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    if (left === -1) {
      waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
      const end = waiting.indexOf(END_OF_HEAD);
      if (end === -1) return;
      const head = waiting.toString("latin1", 0, end);
      if (!head.startsWith("HTTP/1.1 200")) throw new Error(waiting.toString().slice(0, 400));
      left = Number(/content-length: (\d+)/i.exec(head)[1]) - (waiting.length - end - END_OF_HEAD.length);
    } else left -= chunk.length;
    if (left > 0) return;
    left = -1;
    waiting = Buffer.alloc(0);
    done();
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    call: () =>
      new Promise((resolve) => {
        done = resolve;
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

const all = await Promise.all(Array.from({ length: callers }, caller));
async function run(count) {
  const took = [];
  let begun = 0;
  const startedAt = performance.now();
  const work = async ({ call }) => {
    while (begun++ < count) {
      const at = performance.now();
      await call();
      took.push(performance.now() - at);
    }
  };
  await Promise.all(all.map(work));
  return { ms: performance.now() - startedAt, took: took.toSorted((a, b) => a - b) };
}
await run(warmUp);
process.send?.("warm");
if (process.send) await new Promise((resolve) => process.once("message", resolve));
const { ms, took } = await run(calls);
const at = (share) => took[Math.floor(took.length * share)];
const result = { calls, ms, p50: at(0.5), p99: at(0.99) };
if (process.send) process.send(result);
else console.log(JSON.stringify(result));
for (const { close } of all) close();
process.disconnect?.();
