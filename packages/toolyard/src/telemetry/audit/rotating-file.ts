import { readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface RotationOptions {
  /** Size in bytes above which the file is renamed. 0: never. */
  readonly maxBytes: number;
  /** Number of renamed files that are kept. 0: all. */
  readonly keep: number;
  /** Age after which a renamed file is deleted, in milliseconds. 0: never. */
  readonly retentionMs: number;
}

/** Pattern of names such as `audit.jsonl.2026-01-02T03-04-05.678Z`, whose alphabetical order is the order of age. */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

/**
 * Renames the file if it has reached its maximum size, and deletes old files. Several processes may write to one file:
 * each opens it for every write, so a renamed file gets no further lines.
 */
export async function rotate(path: string, { maxBytes, keep, retentionMs }: RotationOptions): Promise<void> {
  if (maxBytes === 0) return;
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size < maxBytes) return;
  // The error is ignored, because another process may have renamed the file.
  await rename(path, await freeName(path)).catch(() => {});
  const old = await rotatedFiles(path);
  const surplus = keep === 0 ? [] : old.slice(0, Math.max(0, old.length - keep));
  const expired = retentionMs === 0 ? [] : old.filter((file) => Date.now() - timeOf(path, file) > retentionMs);
  await Promise.all([...new Set([...surplus, ...expired])].map((file) => rm(file, { force: true })));
}

/** Returns a free name. A file that was renamed in the same millisecond must not be replaced. */
async function freeName(path: string): Promise<string> {
  for (let at = Date.now(); ; at += 1) {
    const name = `${path}.${new Date(at).toISOString().replaceAll(":", "-")}`;
    if (!(await stat(name).catch(() => undefined))) return name;
  }
}

/** Returns the renamed files of an audit, the oldest first. */
export async function rotatedFiles(path: string): Promise<readonly string[]> {
  const start = `${basename(path)}.`;
  const names = await readdir(dirname(path)).catch(() => [] as string[]);
  return names
    .filter((name) => name.startsWith(start) && STAMP.test(name.slice(start.length)))
    .toSorted()
    .map((name) => join(dirname(path), name));
}

function timeOf(path: string, file: string): number {
  const stamp = basename(file).slice(basename(path).length + 1);
  return Date.parse(stamp.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
}
