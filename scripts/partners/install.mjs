// The partners: toolchains, how each is installed or built into the cache, and the commands of its client and server.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lackOf } from "./versions.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(root, "test", "interop");
const INSTALL_MS = 1_800_000;

/**
 * Folder of all installations and builds, outside the repository: `TOOLYARD_PARTNERS`, or next to other caches of this
 * folder.
 */
export const cache = process.env.TOOLYARD_PARTNERS ?? join(root, "node_modules", ".cache", "toolyard-partners");

const PYTHON = { command: "python3", args: ["--version"], wanted: "3.11" };
const GO = { command: "go", args: ["version"], wanted: "1.25.5" };
const RUST = { command: "cargo", args: ["--version"], wanted: "1.88" };
const BOTH = ["legacy", "modern"];

/** Partners in the order of the pairings. `eras` are those that the client supports. */
export const PARTNERS = [
  python("python-1", "mcp", ["legacy"]),
  python("python-2", "mcp", BOTH),
  python("fastmcp", "fastmcp", BOTH),
  go("go-sdk", "github.com/modelcontextprotocol/go-sdk"),
  go("mcp-go", "github.com/mark3labs/mcp-go"),
  rust("rmcp"),
  typescript("typescript"),
];

function python(name, distribution, eras) {
  const folder = join(home, name);
  const binary = join(cache, name, "bin", "python");
  return {
    name,
    eras,
    library: `${distribution} ${pinOf(join(folder, "requirements.txt"), distribution)}`,
    toolchain: PYTHON,
    sources: [join(folder, "requirements.txt")],
    install: async () => {
      rmSync(join(cache, name), { recursive: true, force: true });
      await run(["python3", "-m", "venv", join(cache, name)], root);
      // The list is complete, so pip need not resolve dependencies.
      await run(
        [
          binary,
          "-m",
          "pip",
          "install",
          "--quiet",
          "--disable-pip-version-check",
          "--no-deps",
          "-r",
          join(folder, "requirements.txt"),
        ],
        root,
      );
    },
    client: [binary, join(folder, "client.py")],
    server: [binary, join(folder, "server.py")],
  };
}

/** Returns a Go partner. Both Go partners are one module, which is built once. */
function go(name, module) {
  const folder = join(home, "go");
  const built = join(cache, "go");
  return {
    name,
    eras: BOTH,
    library:
      `${module} ` +
      `${new RegExp(`${module} v(\\S+)`, "u").exec(readFileSync(join(folder, "go.mod"), "utf8"))?.[1] ?? ""}`,
    toolchain: GO,
    build: "go",
    sources: [folder],
    install: () => run(["go", "build", "-o", `${built}/`, "./..."], folder),
    client: [join(built, `${name}-client`)],
    server: [join(built, `${name}-server`)],
  };
}

function rust(name) {
  const folder = join(home, name);
  const built = join(cache, name);
  return {
    name,
    eras: BOTH,
    library: `${name} ${pinnedVersion(name, join(folder, "Cargo.toml"))}`,
    toolchain: RUST,
    sources: [folder],
    install: () => run(["cargo", "build", "--locked", "--quiet"], folder, { CARGO_TARGET_DIR: built }),
    client: [join(built, "debug", "client")],
    server: [join(built, "debug", "server")],
  };
}

/** Returns a partner with the SDK that the tests of this package use, so nothing needs installing. */
function typescript(name) {
  const folder = join(home, name);
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    name,
    eras: BOTH,
    library: `@modelcontextprotocol/client and server ${devDependencies["@modelcontextprotocol/client"]}`,
    toolchain: { command: process.execPath, args: ["--version"], wanted: "20.19" },
    sources: [],
    install: () => Promise.resolve(),
    client: [process.execPath, join(folder, "client.mjs")],
    server: [process.execPath, join(folder, "server.mjs")],
  };
}

function pinOf(file, distribution) {
  return new RegExp(`^${distribution}==(.+)$`, "mu").exec(readFileSync(file, "utf8"))?.[1] ?? "";
}

/** Installs the requested partners. Returns the available ones, and for each missing one the reason. */
export async function installPartners(names) {
  mkdirSync(cache, { recursive: true });
  const ready = [];
  const skipped = [];
  for (const partner of PARTNERS.filter(({ name }) => names.has(name))) {
    const lack = lackOf(partner.toolchain, await askVersion(partner.toolchain));
    if (lack) skipped.push({ name: partner.name, reason: lack });
    else {
      await installPart(partner);
      ready.push(partner);
    }
  }
  return { ready, skipped };
}

/** Returns the version output of a toolchain, or `undefined` if there is none. */
async function askVersion({ command, args }) {
  return run([command, ...args], root).catch(() => undefined);
}

/** Installs one part, unless its sources are the same as at the last time. */
export async function installPart(partner) {
  const stamp = join(cache, `${partner.build ?? partner.name}.installed`);
  const wanted = digestOf(partner.sources);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  process.stderr.write(`Installing ${partner.name} (${partner.library}) …\n`);
  await partner.install();
  writeFileSync(stamp, wanted);
}

function digestOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesOf)) hash.update(readFileSync(path));
  return hash.digest("hex");
}

function pinnedVersion(name, manifest) {
  const pin = new RegExp(`${name} = \\{ version = "=([^"]+)"`, "u");
  return pin.exec(readFileSync(manifest, "utf8"))?.[1] ?? "";
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** Runs a command. Resolves with its output, and rejects if it fails. */
export function run([command, ...args], cwd, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: INSTALL_MS,
      env: { ...process.env, ...env },
    });
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.stderr.on("data", (part) => parts.push(part));
    child.on("error", reject);
    child.on("close", (code) => {
      const output = Buffer.concat(parts).toString();
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output.slice(-4000)}`));
    });
  });
}
