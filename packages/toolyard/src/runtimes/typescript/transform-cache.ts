import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeWholeSync } from "../../files/write-whole.ts";
import { transformTypeScript } from "./transform.ts";

/**
 * Part of every cache key. It changes with the transformer and its settings, because another transformer or other
 * settings produce different files.
 */
const FORMAT = "sucrase-3.35.1/1";
const MAX_FILES = 1000;
/** Number of writes between two cleanups of the folder. */
const PRUNE_EVERY = 50;

/**
 * Transforms a file like `transformTypeScript`, but caches the result by the source text. An unusable cache only costs
 * time.
 */
export function transformCached(source: string, path: string, folder: string | undefined): string {
  if (folder === undefined) return transformTypeScript(source, path);
  const key = createHash("sha256").update(`${FORMAT}\0${source}`).digest("hex");
  const file = join(folder, `${key}.js`);
  const known = readIfThere(file);
  if (known !== undefined) return known;
  const code = transformTypeScript(source, path);
  // The digest of the text is appended, so that a truncated file is detected.
  store(folder, file, `${code}\n${SEAL}${digestOf(code)}`);
  return code;
}

const SEAL = "//# sealed ";

function digestOf(code: string): string {
  return createHash("sha256").update(code).digest("hex").slice(0, 16);
}

function readIfThere(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const at = text.lastIndexOf(`\n${SEAL}`);
    const code = text.slice(0, at);
    return at !== -1 && text.slice(at + 1 + SEAL.length) === digestOf(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function store(folder: string, file: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeWholeSync(file, text);
    if (Math.random() * PRUNE_EVERY < 1) prune(folder);
  } catch {
    // The error is ignored: with a read-only folder or a full disk, the next start transforms the file again.
  }
}

function prune(folder: string): void {
  const files = readdirSync(folder).map((name) => ({
    path: join(folder, name),
    usedAt: statSync(join(folder, name)).mtimeMs,
  }));
  if (files.length <= MAX_FILES) return;
  for (const { path } of files.toSorted((a, b) => a.usedAt - b.usedAt).slice(0, files.length - MAX_FILES / 2))
    rmSync(path, { force: true });
}
