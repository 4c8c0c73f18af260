import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Extra } from "../extras.ts";

/** Members of a lock file's entry that are used here. */
export interface LockEntry {
  readonly version: string;
  readonly integrity?: string;
  /** True for a package that is only for the platforms in `os`, `cpu` and `libc`. */
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

export interface LockFile {
  readonly name: string;
  readonly version: string;
  readonly packages: Readonly<Record<string, LockEntry>>;
}

const DIGEST_BYTES = 6;
const OWN_FOLDER = "node_modules/@toolyard/";

/** Reads the lock file of an extra. Throws if its digest is not the pinned one. */
export function readLockFile({ name, lock: pinned }: Extra): LockFile {
  const lock = JSON.parse(readFileSync(new URL(`../locks/${name}.json`, import.meta.url), "utf8")) as LockFile;
  const digest = createHash("sha256")
    .update(JSON.stringify(withoutOwnDigests(lock)))
    .digest();
  if (digest.subarray(0, DIGEST_BYTES).toString("hex") !== pinned)
    throw new Error(`The lock file of the extra ${name} does not belong to this version. Install toolyard again.`);
  const unpinned = packagesOf(lock).find(([, { integrity }]) => integrity === undefined)?.[0];
  if (unpinned === undefined) return lock;
  throw new Error(`This build of toolyard has no digest of ${unpinned}. Use a published package, or a checkout.`);
}

/** Removes the digests of this repository's packages, which are added when this package is packed. */
function withoutOwnDigests(lock: LockFile): LockFile {
  const packages = Object.entries(lock.packages).map(([folder, { integrity, ...entry }]) => [
    folder,
    folder.startsWith(OWN_FOLDER) || integrity === undefined ? entry : { ...entry, integrity },
  ]);
  return { ...lock, packages: Object.fromEntries(packages) as LockFile["packages"] };
}

/** Returns the entries of packages by folder (`node_modules/ai`), without the extra itself. */
export function packagesOf(lock: LockFile): readonly (readonly [folder: string, entry: LockEntry])[] {
  return Object.entries(lock.packages).filter(([folder]) => folder !== "");
}
