import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { appendFile, mkdir, readFile, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { openFile, type OpenOptions } from "../documents/open-file.ts";

/** Files whose digests are remembered, and bytes of the file that they are kept in: with more, all begin anew. */
const MAX_KNOWN = 100_000;
const MAX_BYTES = 40_000_000;
/** Within it a file may change once more and bear the same time: as long as file systems' clocks stand still. */
const COARSE_MS = 2_000;
const FINE_MS = 100;
/** No clock that is kept as a whole number of these is a fine one. */
const FINE_NS = 10_000_000n;
const PIECE = 1_048_576;

interface Known {
  readonly state: string;
  readonly digest: string;
}

/**
 * SHA-256 of files. One whose size, times, inode and device are as they were when its digest was taken is not read
 * again: the time of its last change (`ctime`) is the system's own, and is set by no program. As git does, it trusts
 * none of a file that had changed just before, which may change again within the same tick of that clock.
 */
export class FileDigests {
  readonly #file: string;
  #known: Promise<Map<string, Known>> | undefined;

  /** Where they are kept from one process to the next. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Hexadecimal. Rejects with a `DocumentError` for what cannot be opened, or is larger than it may be. */
  async of(path: string, options: OpenOptions, now = Date.now()): Promise<string> {
    const { handle, stats } = await openFile(path, options);
    try {
      const known = await (this.#known ??= this.#load());
      const state = stateOf(stats);
      const found = known.get(path);
      if (found?.state === state) return found.digest;
      const digest = await digestOf(handle, Number(stats.size));
      const isSame = stateOf(await handle.stat({ bigint: true })) === state;
      if (isSame && hasRested(stats, now)) await this.#keep(known, path, { state, digest });
      return digest;
    } finally {
      await handle.close();
    }
  }

  async #keep(known: Map<string, Known>, path: string, { state, digest }: Known): Promise<void> {
    if (known.size >= MAX_KNOWN) {
      known.clear();
      await rm(this.#file, { force: true }).catch(() => {});
    }
    known.set(path, { state, digest });
    // Where nothing can be written, they hold for this process.
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 })
      // In front as well: the line before may have been cut by a sudden end, and would take this one with it.
      .then(() => appendFile(this.#file, `\n${JSON.stringify([path, state, digest])}\n`, { mode: 0o600 }))
      .catch(() => {});
  }

  async #load(): Promise<Map<string, Known>> {
    const { size } = await stat(this.#file).catch(() => ({ size: 0 }));
    if (size > MAX_BYTES) await rm(this.#file, { force: true }).catch(() => {});
    const text = size > MAX_BYTES ? "" : await readFile(this.#file, "utf8").catch(() => "");
    const known = new Map<string, Known>();
    for (const line of text.split("\n")) {
      const [path, state, digest] = fieldsIn(line);
      if (path !== undefined && state !== undefined && digest !== undefined) known.set(path, { state, digest });
    }
    return known;
  }
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

function hasRested({ mtimeNs, ctimeNs }: BigIntStats, now: number): boolean {
  const last = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const isFine = mtimeNs % FINE_NS !== 0n && ctimeNs % FINE_NS !== 0n;
  return now - Number(last / 1_000_000n) > (isFine ? FINE_MS : COARSE_MS);
}

/** Of so many bytes: one that grows while it is read has no end. */
async function digestOf(handle: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(PIECE, size) || 1);
  for (let at = 0; at < size;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - at), at);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest("hex");
}

/** None for a line that was cut. */
function fieldsIn(line: string): string[] {
  try {
    const fields: unknown = JSON.parse(line);
    return Array.isArray(fields) && fields.every((field) => typeof field === "string") ? fields : [];
  } catch {
    return [];
  }
}
