// `node scripts/count-call-path.mjs [--files] [--json]`: counts files and functions of the hub that a warm `tools/call`
// executes, from HTTP to a server on stdio and back, by V8's coverage. Counts compiled modules in
// packages/toolyard/build, so run `npm run build` before. `--files` lists the files with their functions.
//
// A call is warm after the same call ran often enough that everything is loaded and cached. Work that only some calls
// do (timers, writing the audit log) is omitted: a function counts if it ran at least once for every two calls.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { legacyClient, modernClient } from "../bench/lib/hub.mjs";

/** The goal; the script exits with 1 above it. */
const LIMITS = { files: 80, functions: 300 };
const WARM_CALLS = 200;
const CALLS = 50;
const TOOL = ["child__echo", { text: "hello" }];

const { values } = parseArgs({ options: { files: { type: "boolean" }, json: { type: "boolean" } } });
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const build = join(root, "packages", "toolyard", "build");
const buildUrl = `${pathToFileURL(build).href}/`;

/** Module that is loaded into the hub. It counts from one message to the next, and sends the executed functions. */
const COUNTER = `
import { Session } from "node:inspector";
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
process.on("message", () => session.post("Profiler.takePreciseCoverage", (_, { result }) => process.send(result)));
process.channel.unref();
`;

const scratch = mkdtempSync(join(tmpdir(), "toolyard-call-path-"));
const hub = await startHub();
let isOver = false;
try {
  for (const [era, client] of [
    ["modern", modernClient(hub.url)],
    ["legacy", await legacyClient(hub.url)],
  ]) {
    report(era, await countCalls(client));
    client.close();
  }
} finally {
  const exited = once(hub.child, "exit");
  hub.child.kill("SIGTERM");
  await exited;
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = isOver ? 1 : 0;

async function startHub() {
  const config = join(scratch, "toolyard.toml");
  const command = [process.execPath, join(root, "bench", "servers", "echo-stdio.mjs")];
  writeFileSync(config, `[mcp.stdio_servers.child]\ncommand = ${JSON.stringify(command)}\n`);
  const counter = `data:text/javascript,${encodeURIComponent(COUNTER)}`;
  const words = [join(build, "cli", "main.js"), "serve", "--config", config, "--port", "0", "--json", "--no-watch"];
  const env = { ...process.env, TOOLYARD_HOME: scratch, TOOLYARD_LOGGING_LEVEL: "error" };
  const child = spawn(process.execPath, ["--import", counter, ...words], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { ...env, TOOLYARD_LIMITS_RATE_PER_MINUTE: "0" },
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url: JSON.parse(line).url };
}

/** Returns functions by file, each with its name and position. */
async function countCalls(client) {
  for (let call = 0; call < WARM_CALLS; call += 1) await client.call(...TOOL);
  await takeCounts();
  for (let call = 0; call < CALLS; call += 1) await client.call(...TOOL);
  const files = new Map();
  for (const { url, functions } of await takeCounts()) {
    if (!url.startsWith(buildUrl)) continue;
    const ran = functions.filter(({ ranges }) => ranges[0].count >= CALLS / 2);
    if (ran.length > 0)
      files.set(
        url.slice(buildUrl.length),
        ran.map(({ functionName }) => functionName || "(unnamed)"),
      );
  }
  return files;
}

async function takeCounts() {
  const answered = once(hub.child, "message");
  hub.child.send("take");
  const [result] = await answered;
  return result;
}

function report(era, files) {
  const functions = Array.from(files.values()).reduce((sum, names) => sum + names.length, 0);
  isOver ||= files.size > LIMITS.files || functions > LIMITS.functions;
  if (values.json) return console.log(JSON.stringify({ era, files: files.size, functions }));
  console.log(`${era}: ${files.size} files, ${functions} functions`);
  if (!values.files) return;
  for (const [path, names] of Array.from(files).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    console.log(`  ${path}: ${names.join(", ")}`);
}
