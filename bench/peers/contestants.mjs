// Who takes part, and how each is started in front of the same stdio server. `start` gives the child to measure and the way to call `echo`.
// Left out: mcp-use 2.5.2 (its proxy wants a package that the registry does not have), slop-mcp 0.15.0 (a Go program that serves HTTP+SSE only).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { root } from "../lib/hub.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bin = (name) => join(here, "node_modules/.bin", name);
const echo = join(root, "bench/servers/echo-stdio.mjs");
const folders = [];
process.once("exit", () => folders.forEach((path) => rmSync(path, { recursive: true, force: true })));

export const CONTESTANTS = [
  { name: "direct (v1 SDK server on HTTP)", start: () => printsPort([join(here, "sdk-server.mjs")], "echo") },
  { name: "toolyard", start: (port) => toolyard(port) },
  { name: "v1 SDK client and server back to back", start: () => printsPort([join(here, "sdk-gateway.mjs"), process.execPath, echo], "echo") },
  { name: "mcp-proxy 6.7.19", start: (port) => onPort(port, [bin("mcp-proxy"), "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", process.execPath, echo]) },
  { name: "supergateway 4.0.0", start: (port) => onPort(port, [bin("supergateway"), "--stdio", `${process.execPath} ${echo}`, "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"]) },
  { name: "mcp-hub 4.2.1 (its REST)", start: mcpHub },
  { name: "mcporter 0.12.3", needs: 24, start: mcporter },
  { name: "toolyard (to the SDK server on HTTP)", start: (port, _node, direct) => toolyard(port, `[[mcp.remote_servers]]\nnamespace = "echo"\nurl = "${direct}"\n`) },
];

/** A free port of this machine, for programs that cannot choose one. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return String(port);
}

function folder() {
  const path = mkdtempSync(join(tmpdir(), "toolyard-peer-"));
  folders.push(path);
  return path;
}

async function printsPort(args, tool) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url: `http://127.0.0.1:${port}/mcp`, tool };
}

function onPort(port, args, { node = process.execPath, tool = "echo", env = {}, cwd } = {}) {
  const child = spawn(node, args, { stdio: "ignore", detached: true, env: { ...process.env, ...env }, ...(cwd && { cwd }) });
  return { child, url: `http://127.0.0.1:${port}/mcp`, tool };
}

const CHILD = `[mcp.stdio_servers.echo]\ncommand = [${JSON.stringify(process.execPath)}, ${JSON.stringify(echo)}]\n`;

function toolyard(port, servers = CHILD) {
  const place = folder();
  const config = join(place, "toolyard.toml");
  writeFileSync(config, `[server]\nport = ${port}\n[limits]\nrate_per_minute = 0\nin_flight = 0\n${servers}`);
  return onPort(port, [join(root, "dist/cli/main.js"), "serve", "--config", config], { tool: "echo__echo", env: { TOOLYARD_HOME: place } });
}

function mcpHub(port) {
  const config = join(folder(), "servers.json");
  writeFileSync(config, JSON.stringify({ mcpServers: { echo: { command: process.execPath, args: [echo] } } }));
  const started = onPort(port, [bin("mcp-hub"), "--port", port, "--config", config]);
  return { ...started, rest: { url: `http://127.0.0.1:${port}/api/servers/tools`, body: { server_name: "echo", tool: "echo" } } };
}

function mcporter(port, node) {
  const place = folder();
  mkdirSync(join(place, "config"));
  writeFileSync(join(place, "config/mcporter.json"), JSON.stringify({ mcpServers: { echo: { command: process.execPath, args: [echo], lifecycle: "keep-alive" } } }));
  return onPort(port, [bin("mcporter"), "serve", "--http", port], { node, cwd: place, env: { HOME: place, PATH: `${dirname(node)}:${process.env.PATH}` }, tool: null });
}
