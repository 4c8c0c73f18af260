// `npm run partners -- tasks [--verbose]`: a client and a server of the Python SDK 1.x with tasks of 2025-11-25, once
// directly and once with the hub between them. Their observations must be equal except for those in `EXPECTED`. Needs
// the build and Python; without Python it is skipped with a message.
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { installPartners } from "./install.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(root, "test", "interop", "tasks");
const main = join(root, "packages", "toolyard", "dist", "cli", "main.js");
const CHILD_MS = 120_000;
const FAILURE = { text: "no paper", isError: true, isRelated: true };
/**
 * Observations that differ on purpose, directly and through the hub. The hub follows tasks for callers without tasks. A
 * tool's own error is a failed task in 2025-11-25, which the SDK reports as completed.
 */
const EXPECTED = {
  support: ["required", "optional"],
  plain: ["This tool requires task-augmented invocation", "done slow"],
  fails: [
    { ...FAILURE, status: "completed" },
    { ...FAILURE, status: "failed" },
  ],
};

const { values } = parseArgs({
  options: { verbose: { type: "boolean", default: false } },
  allowPositionals: true,
});
const { ready, skipped } = await installPartners(new Set(["python-1"]));
for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
const python = ready.find(({ name }) => name === "python-1")?.client[0];
const faults = python === undefined ? [] : await compare(python);
for (const fault of faults) console.log(`FAIL ${fault}`);
if (python !== undefined && faults.length === 0) console.log("ok   tasks of python-1, directly and through the hub");
process.exit(faults.length > 0 ? 1 : 0);

async function compare(interpreter) {
  const work = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-partners-tasks-")));
  try {
    const server = [interpreter, join(home, "server.py")];
    writeFileSync(join(work, "toolyard.toml"), `[mcp.stdio_servers.py]\ncommand = ${JSON.stringify(server)}\n`);
    const hub = [process.execPath, main, "serve", "--stdio", "--config", join(work, "toolyard.toml")];
    const [direct, through] = [await observe(interpreter, server, work), await observe(interpreter, hub, work)];
    if (values.verbose) console.log(JSON.stringify({ direct, through }, undefined, 1));
    return Object.keys(direct).flatMap((key) => {
      const [wanted, got] = EXPECTED[key] ?? [direct[key], direct[key]];
      const isFine = isDeepStrictEqual(direct[key], wanted) && isDeepStrictEqual(through[key], got);
      return isFine ? [] : [`${key}: directly ${JSON.stringify(direct[key])}, hub ${JSON.stringify(through[key])}`];
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function observe(interpreter, target, work) {
  const env = { ...process.env, TOOLYARD_HOME: join(work, "home"), PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn(interpreter, [join(home, "client.py"), ...target], {
    cwd: work,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: CHILD_MS,
  });
  const [output, errors] = [[], []];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(output).toString()));
      else reject(new Error(`The client ended with ${code}: ${Buffer.concat(errors).toString().slice(-2000)}`));
    });
  });
}
