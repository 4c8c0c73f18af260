// `npm pack` in a package: builds all of them anew, and copies into the package what it ships of the repository's root.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SHIPPED = { toolyard: ["LICENSE", "CHANGELOG.md", "docs"], library: ["LICENSE"], gnn: ["LICENSE"] };
const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--clean"], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
ship(process.cwd());
if (basename(process.cwd()) === "toolyard") for (const name of ["library", "gnn"]) pinOwnPackage(name);

function ship(folder) {
  for (const name of SHIPPED[basename(folder)] ?? []) {
    rmSync(join(folder, name), { recursive: true, force: true });
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
}

/** Writes the sha512 of a package of this repository, as it is published, into the lock file of its extra. */
function pinOwnPackage(name) {
  const folder = join(root, "packages", name);
  ship(folder);
  const npm = process.env.npm_execpath;
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [command, words] = npm === undefined ? ["npm", args] : [process.execPath, [npm, ...args]];
  const { stdout, status } = spawnSync(command, words, { cwd: folder, encoding: "utf8", env: environment() });
  if (status !== 0) process.exit(status ?? 1);
  const [{ integrity }] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  const file = join(process.cwd(), "dist/extras/locks", `${name}.json`);
  const lock = JSON.parse(readFileSync(file, "utf8"));
  lock.packages[`node_modules/@toolyard/${name}`].integrity = integrity;
  writeFileSync(file, JSON.stringify(lock));
}

/** The settings of the outer command, such as where it puts its file, are not those of the inner one. */
function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_config_/i.test(key)));
}
