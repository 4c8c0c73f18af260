import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveFile } from "./resolve-file.ts";

/**
 * The files of a module, found by relative imports, and one hash of their contents, which is the module's version. An
 * unchanged helper keeps its single instance for all its importers; a changed helper also gives its importers a new
 * version. Import specifiers are found by a pattern: a false match costs one check for a missing file.
 */
export interface Graph {
  /** Real paths, the entry first. Includes imported files that are missing, because their creation is a change. */
  readonly files: readonly string[];
  /** Hash of 12 hexadecimal digits. */
  readonly version: string;
  /** True if a file needs the hooks: TypeScript, the package's own name, or a relative import. */
  readonly needsHooks: boolean;
}

interface Scan {
  readonly signature: string;
  /** True if a file was written just before it was read. A second edit might then not change its signature. */
  readonly racy: boolean;
  readonly hash: string;
  readonly imports: readonly string[];
  readonly usesPackage: boolean;
}

/** Maximum number of files in a graph. Edits of further files are not detected. Module folders have far fewer files. */
const MAX_FILES = 2000;
/** Maximum step of file systems' time stamps, in milliseconds. */
const RACY_MS = 50;
const MISSING: Scan = { signature: "missing", racy: false, hash: "missing", imports: [], usesPackage: false };

const IMPORTS = /\b(?:from|import|require)\s*(?:\(\s*)?(["'`])(\.{1,2}\/[^"'`\n]+)\1/gu;
const PACKAGE = /\b(?:from|import)\s*(?:\(\s*)?["']toolyard(?:\/[^"']*)?["']/u;
const CODE = /\.(?:[cm]?[jt]s|tsx)$/u;

const scans = new Map<string, Scan>();

/** Follows the relative imports of a file. Never throws: an unreadable file counts as missing. */
export function readGraph(entry: string): Graph {
  const files = [realPath(entry)];
  const seen = new Set(files);
  const digest = createHash("sha256");
  let needsHooks = /\.[cm]?ts$/u.test(entry);
  for (let at = 0; at < files.length; at += 1) {
    const scan = scanFile(files[at]!);
    digest.update(`${files[at]!}\0${scan.hash}\n`);
    needsHooks ||= scan.usesPackage || scan.imports.length > 0;
    for (const file of scan.imports) {
      if (seen.has(file) || files.length >= MAX_FILES) continue;
      seen.add(file);
      files.push(file);
    }
  }
  return { files, version: digest.digest("hex").slice(0, 12), needsHooks };
}

/** Returns a signature that changes when the file on disk changes. Does not read the file. */
export function signatureOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.mtimeNs}.${stats.ctimeNs}.${stats.size}.${stats.ino}` : "missing";
}

/**
 * Returns whether a file was written so recently that another edit of the same size might leave its signature
 * unchanged.
 */
export function isRacy(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < RACY_MS;
}

function scanFile(path: string): Scan {
  const before = scans.get(path);
  try {
    const signature = signatureOf(path);
    if (before?.signature === signature && !before.racy) return before;
    const scan = signature === "missing" ? MISSING : readScan(path, signature);
    if (scans.size >= MAX_FILES * 4) scans.clear();
    scans.set(path, scan);
    return scan;
  } catch {
    return MISSING;
  }
}

function readScan(path: string, signature: string): Scan {
  const racy = isRacy(path);
  const bytes = readFileSync(path);
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (!CODE.test(path)) return { signature, racy, hash, imports: [], usesPackage: false };
  const text = bytes.toString("utf8");
  const imports: string[] = [];
  for (const match of text.matchAll(IMPORTS)) {
    const target = resolve(dirname(path), match[2]!.replace(/[?#].*/su, ""));
    imports.push(realPath(resolveFile(target) ?? target));
  }
  return { signature, racy, hash, imports: Array.from(new Set(imports)), usesPackage: PACKAGE.test(text) };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Returns the version of the file behind a URL, for the hook that resolves it. */
export function versionOfUrl(url: string): string {
  return readGraph(fileURLToPath(url)).version;
}
