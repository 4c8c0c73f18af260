// `npm pack` in a package: builds all packages, and copies the shipped files of the repository's root into the package.
// A package ships the exact versions of its dependencies, in an npm-shrinkwrap.json made from package-lock.json.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lockOf, lockText } from "./extras.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = process.cwd();
/** Names of the extras that packages of this repository are, by the folder of the package. */
const OWN_EXTRAS = { library: "library", gnn: "gnn", "python-wasi": "python" };
const SHIPPED = { toolyard: ["LICENSE", "CHANGELOG.md", "docs"], library: ["LICENSE"], gnn: ["LICENSE"] };
/**
 * Files of `docs` that are not in the package: pages for developers of the program, and pictures, which are large.
 * Users read the guide and the reference.
 */
const FOR_DEVELOPERS = ["decisions", "explanation/complaints.md", "pictures"].map((name) => join(root, "docs", name));
const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--clean"], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
ship(process.cwd());
if (basename(process.cwd()) === "toolyard")
  for (const [name, extra] of Object.entries(OWN_EXTRAS)) pinOwnPackage(name, extra);
if (basename(folder) === "toolyard") writeFileSync(join(folder, "npm-shrinkwrap.json"), lockText(shrinkwrap()));

function ship(folder) {
  for (const name of SHIPPED[basename(folder)] ?? []) {
    rmSync(join(folder, name), { recursive: true, force: true });
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: isForUsers });
  }
}

function isForUsers(path) {
  return !FOR_DEVELOPERS.some((one) => path.startsWith(one));
}

/** Writes the sha512 of a package of this repository, as it is published, into the lock file of its extra. */
function pinOwnPackage(name, extra) {
  const folder = join(root, "packages", name);
  ship(folder);
  const npm = process.env.npm_execpath;
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [command, words] = npm === undefined ? ["npm", args] : [process.execPath, [npm, ...args]];
  const { stdout, status } = spawnSync(command, words, { cwd: folder, encoding: "utf8", env: environment() });
  if (status !== 0) process.exit(status ?? 1);
  const [{ integrity }] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  const file = join(process.cwd(), "dist/extras/locks", `${extra}.json`);
  const lock = JSON.parse(readFileSync(file, "utf8"));
  lock.packages[`node_modules/@toolyard/${name}`].integrity = integrity;
  writeFileSync(file, JSON.stringify(lock));
}

/**
 * Returns the environment for the inner npm, without the settings of the outer npm command, such as its output folder.
 */
function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_config_/i.test(key)));
}

function shrinkwrap() {
  const { name, version, dependencies, optionalDependencies, engines } = readJson(join(folder, "package.json"));
  const names = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)];
  const lock = lockOf(name, names, readJson(join(root, "package-lock.json")));
  const { "": _, ...packages } = lock.packages;
  const head = { name, version, dependencies, optionalDependencies, engines };
  const entries = Object.entries(packages).map(([place, entry]) => [place, withOptional(place, entry, head)]);
  return { ...lock, version, packages: { "": head, ...Object.fromEntries(entries) } };
}

/**
 * Returns the entry of a package, marked as one that npm may omit if the manifest declares the package as optional.
 */
function withOptional(place, entry, { optionalDependencies }) {
  const isOptional = Object.hasOwn(optionalDependencies, place.slice("node_modules/".length));
  return isOptional ? { ...entry, optional: true } : entry;
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
