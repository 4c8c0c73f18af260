// Writes pins.ts and locks/ of packages/toolyard/src/extras: the exact versions and sha512 of the packages of each
// extra and of all dependencies, from package-lock.json. Run it after changing a version there.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "sucrase";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIGEST_BYTES = 6;
const OWN_PLACE = "node_modules/@toolyard/";
/** Members of a lock's entry that decide which files are installed, and where. */
const KEPT = [
  "version",
  "integrity",
  "dependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "optional",
  "peer",
  "os",
  "cpu",
  "libc",
];

/** Returns the lock file of each extra, by its name. */
export function locksOf(parts, rootLock) {
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, lockOf(`toolyard-extra-${name}`, part.packages, rootLock)]),
  );
}

/** Returns a lock file of the packages and of all their dependencies, as in package-lock.json. */
export function lockOf(name, packages, { packages: all }) {
  const places = new Map();
  const waiting = packages.map((one) => ({ from: "", name: one }));
  for (const { from, name: wanted, isOptional = false } of waiting) {
    const place = placeOf(all, from, wanted);
    if (place === undefined && isOptional) continue;
    if (place === undefined) throw new Error(`package-lock.json has no ${wanted} for ${from || name}.`);
    if (places.has(place)) continue;
    const entry = entryAt(all, place);
    places.set(place, entry);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry;
    const add = (names, isLoose) =>
      waiting.push(...names.map((one) => ({ from: place, name: one, isOptional: isLoose })));
    add(Object.keys(dependencies), false);
    add(Object.keys(optionalDependencies), true);
    add(
      Object.keys(peerDependencies).filter((one) => peerDependenciesMeta[one]?.optional !== true),
      false,
    );
  }
  const dependencies = Object.fromEntries(packages.map((one) => [one, entryAt(all, placeOf(all, "", one)).version]));
  const head = { name, version: "0.0.0", dependencies };
  const sorted = [...places.keys()].toSorted();
  return {
    name,
    version: "0.0.0",
    lockfileVersion: 3,
    requires: true,
    packages: { "": head, ...Object.fromEntries(sorted.map((place) => [place, entryOf(place, places.get(place))])) },
  };
}

/** Returns the nearest `node_modules` that has the package, as Node finds it. */
function placeOf(all, from, name) {
  for (let at = from; ; at = folderAbove(at)) {
    const place = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (all[place] !== undefined) return place;
    if (at === "") return undefined;
  }
}

/** Returns `node_modules/a` for `node_modules/a/node_modules/b`, and nothing for `node_modules/a`. */
function folderAbove(place) {
  return place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")));
}

/** Returns the entry of a package; for one of this repository, without this program and without its own extras. */
function entryAt(all, place) {
  const entry = all[place];
  if (entry.link !== true) return entry;
  const { version, dependencies = {} } = all[entry.resolved];
  const { toolyard: _own, ...others } = dependencies;
  return { version, dependencies: others, isOwn: true };
}

function entryOf(place, entry) {
  if (!entry.isOwn && entry.integrity?.startsWith("sha512-") !== true)
    throw new Error(`package-lock.json has no sha512 of ${place}.`);
  // A whole extra is installed, so only packages for some platforms stay optional.
  const kept = KEPT.filter((key) => entry[key] !== undefined && (key !== "optional" || entry.os !== undefined));
  return { ...Object.fromEntries(kept.map((key) => [key, entry[key]])), ...libcOf(place, entry) };
}

/**
 * Returns the C library of a prebuilt Linux package that does not name it. Without it, npm would install the packages
 * for both libraries.
 */
function libcOf(place, { os = [], libc }) {
  if (libc !== undefined || !os.includes("linux")) return {};
  const name = /-(gnu|musl)(?:eabihf)?$/.exec(place)?.[1];
  return name === undefined ? {} : { libc: [name === "gnu" ? "glibc" : "musl"] };
}

/** Returns the text of a lock file as it is in `packages/toolyard/src/extras/locks/`. */
export function lockText(lock) {
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/** Returns the entry of a lock in `pins.ts`, except for the size. */
export function pinOf(lock) {
  const digest = createHash("sha256")
    .update(JSON.stringify(withoutOwnDigests(lock)))
    .digest();
  return { versions: lock.packages[""].dependencies, lock: digest.subarray(0, DIGEST_BYTES).toString("hex") };
}

/** Removes the sha512 of this repository's packages, which is known only after packing. */
function withoutOwnDigests(lock) {
  const packages = Object.entries(lock.packages).map(([place, { integrity, ...entry }]) => [
    place,
    place.startsWith(OWN_PLACE) || integrity === undefined ? entry : { ...entry, integrity },
  ]);
  return { ...lock, packages: Object.fromEntries(packages) };
}

/** Returns the size of this platform's files in megabytes. */
function sizeOf(lock) {
  const bytes = Object.keys(lock.packages)
    .filter((place) => place !== "" && lock.packages[place].libc?.includes("musl") !== true)
    .flatMap((place) => (place.startsWith(OWN_PLACE) ? ownFiles(place) : filesIn(join(ROOT, place))))
    .reduce((sum, file) => sum + statSync(file).size, 0);
  return Math.max(0.1, Math.round(bytes / 100_000) / 10);
}

/** Returns the files that a package of this repository ships. */
function ownFiles(place) {
  const folder = join(ROOT, "packages", place.slice(OWN_PLACE.length));
  const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const shipped = files.map((name) => join(folder, name)).filter((path) => existsSync(path));
  return shipped.flatMap((path) => (statSync(path).isDirectory() ? filesIn(path) : [path]));
}

function filesIn(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.slice(folder.length).includes("node_modules"))
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    // The package is for another platform, so it is not installed here.
    return [];
  }
}

function pinsText(locks) {
  const pins = Object.fromEntries(
    Object.entries(locks).map(([name, lock]) => [name, { ...pinOf(lock), megabytes: sizeOf(lock) }]),
  );
  return [
    "// Generated by `npm run extras` from package-lock.json.",
    "",
    "/** The pinned parts of an extra. */",
    "export interface ExtraPin {",
    "  /** Exact versions of the packages that the program imports. */",
    "  readonly versions: Readonly<Record<string, string>>;",
    "  /** First characters of the sha256 of the lock file, which contains the sha512 of every package. */",
    "  readonly lock: string;",
    "  /** Approximate size on disk, in megabytes. */",
    "  readonly megabytes: number;",
    "}",
    "",
    `export const PINS: Readonly<Record<string, ExtraPin>> = ${JSON.stringify(pins, undefined, 2)};`,
    "",
  ].join("\n");
}

/** Reads the list of extras from its source, because a build fails if an extra has no pin. */
async function readParts(folder) {
  const { code } = transform(readFileSync(join(folder, "parts.ts"), "utf8"), { transforms: ["typescript"] });
  const { PARTS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return PARTS;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(ROOT, "packages/toolyard/src/extras");
  const locks = locksOf(await readParts(folder), JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")));
  for (const file of readdirSync(join(folder, "locks"))) rmSync(join(folder, "locks", file));
  for (const [name, lock] of Object.entries(locks))
    writeFileSync(join(folder, "locks", `${name}.json`), lockText(lock));
  writeFileSync(join(folder, "pins.ts"), pinsText(locks));
}
