// `node bench/floods.mjs [--workers N]`: the cost of calls of an authenticated client while other clients flood the
// hub, and the hub's memory. Takes about 30 seconds. Each line is one flood of 3 seconds:
// - requests without a token, pipelined on 100 connections: GET, POST and HEAD, which two different HTTP parsers of the
// hub read;
// - requests without a token on connections that are opened again as soon as the hub closes them;
// - bodies that are never completed, on 300 connections of one token;
// - bodies in chunks of one byte, on 200 connections of one token.
//
// The last line shows the calls and the memory after the floods.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./lib/hub.mjs";

const FLOOD_MS = 3000;
const MAX_CALL_MS = 5000;
const HEAD = "Host: 127.0.0.1\r\n";
const TOKEN = "token-of-the-signed-in-client";
const OTHER_TOKEN = "token-of-the-flooding-client";
const BODY_BYTES = 4 * 1024 * 1024 - 1;
const BOB = `${HEAD}Authorization: Bearer ${OTHER_TOKEN}\r\nContent-Type: application/json\r\n`;
const CHUNKED_HEAD = `POST /api/tools/meta.ping HTTP/1.1\r\n${BOB}Transfer-Encoding: chunked\r\n\r\n`;

const FLOODS = {
  "no flood": { connections: 0 },
  "100 × GET, pipelined": { connections: 100, text: `GET /mcp HTTP/1.1\r\n${HEAD}\r\n` },
  "100 × POST, pipelined": { connections: 100, text: `POST /mcp HTTP/1.1\r\n${HEAD}Content-Length: 2\r\n\r\n{}` },
  "100 × health, pipelined": { connections: 100, text: `GET /healthz HTTP/1.1\r\n${HEAD}\r\n` },
  "100 × HEAD (Node's reader), pipelined": { connections: 100, text: `HEAD /healthz HTTP/1.1\r\n${HEAD}\r\n` },
  "300 × half a body, one token": { connections: 300, body: true },
  "200 × body in chunks of one byte": { connections: 200, text: "1\r\nx\r\n", start: CHUNKED_HEAD },
  "no flood, after all floods": { connections: 0 },
};

if (process.argv[2] === "--flood") flood(JSON.parse(process.argv[3]));
else await measure();

async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-floods-"));
  const at = process.argv.indexOf("--workers");
  const workers = at === -1 ? 1 : Number(process.argv[at + 1]);
  writeFileSync(
    join(folder, "toolyard.toml"),
    `[server]\nport = 0\nworkers = ${workers}\n[server.tokens.ada]\ntoken = "${TOKEN}"\nrate_per_minute = 0\n` +
      `[server.tokens.bob]\ntoken = "${OTHER_TOKEN}"\n[rest]\nenabled = true\n`,
  );
  const hub = spawn(
    process.execPath,
    [join(root, "packages/toolyard/dist/cli/main.js"), "serve", "--yes", "--config", "toolyard.toml"],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, TOOLYARD_HOME: folder },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  try {
    const port = await portOf(hub);
    for (const [name, wish] of Object.entries(FLOODS)) report(name, await during(wish, { port, hub }));
  } finally {
    hub.kill();
    await once(hub, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

function portOf(hub) {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk) => {
      text += chunk;
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port) resolve(Number(port));
    };
    hub.stdout.on("data", read);
    hub.stderr.on("data", read);
    hub.once("exit", () => reject(new Error(`The hub ended:\n${text}`)));
  });
}

async function during({ connections, ...wish }, { port, hub }) {
  const flooder = connections > 0 ? await startFlood({ connections, port, ...wish }) : undefined;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const until = performance.now() + FLOOD_MS;
  const times = [];
  let most = 0;
  while (performance.now() < until) {
    const before = performance.now();
    await call(port, agent);
    // A call that gets no answer within the limit counts with its whole duration.
    times.push(performance.now() - before);
    most = Math.max(most, residentOf(hub.pid));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  agent.destroy();
  if (flooder) {
    flooder.kill();
    await once(flooder, "exit");
  }
  times.sort((a, b) => a - b);
  return { times, most };
}

async function startFlood(wish) {
  const flooder = fork(fileURLToPath(import.meta.url), ["--flood", JSON.stringify(wish)]);
  await once(flooder, "message");
  return flooder;
}

function call(port, agent) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const sent = request({ port, agent, method: "POST", path: "/api/tools/meta.ping", headers }, (response) => {
      response.resume().on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error("refused"))));
    });
    sent.on("error", (error) => (sent.destroyed && error.code === "ECONNRESET" ? resolve() : reject(error)));
    sent.setTimeout(MAX_CALL_MS, () => sent.destroy());
    sent.end("{}");
  });
}

/** Returns the resident memory of the hub and its workers in MB. Linux only. */
function residentOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return [pid, ...children].reduce((sum, one) => {
    try {
      return sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, "utf8"))?.[1] ?? 0) / 1024;
    } catch {
      return sum;
    }
  }, 0);
}

function report(name, { times, most }) {
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1).padStart(8);
  const line = `${name.padEnd(40)} median ${at(0.5)} ms  p95 ${at(0.95)} ms  longest ${at(1)} ms`;
  console.log(`${line}  ${times.length} calls  at most ${most.toFixed(0).padStart(4)} MB`);
}

/** Starts a flood in a separate process. */
function flood({ connections, port, text, start, body }) {
  const many = text && Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  const open = () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", open);
    socket.resume();
    if (body) {
      socket.write(`POST /api/tools/meta.ping HTTP/1.1\r\n${BOB}Content-Length: ${BODY_BYTES + 1}\r\n\r\n`);
      return void socket.write(Buffer.alloc(BODY_BYTES, 0x20));
    }
    if (start) socket.write(start);
    const send = () => {
      while (!socket.destroyed && socket.write(many));
    };
    socket.on("drain", send);
    socket.on("connect", send);
  };
  for (let count = 0; count < connections; count += 1) open();
  setTimeout(() => process.send("ready"), 300);
}
