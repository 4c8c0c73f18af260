import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { appendFile, mkdir, readFile, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { openFile, type OpenOptions } from "../documents/open-file.ts";

/**
 * Limits of the stored digests: files, and bytes of the record. Beyond either limit, the record starts again empty.
 */
const MAX_KNOWN = 100_000;
const MAX_BYTES = 40_000_000;
/** A file that changes twice within this time may keep the same timestamp, because file systems have coarse clocks. */
const COARSE_MS = 2_000;
const FINE_MS = 100;
/** Timestamps that are multiples of this come from a coarse clock. */
const FINE_NS = 10_000_000n;
const PIECE = 1_048_576;

interface KnownDigest {
  readonly state: string;
  readonly digest: string;
}

/**
 * Returns the SHA-256 of files. A file whose size, times, inode and device are unchanged is not read again: programs
 * cannot set `ctime`, the time of the last change. As in git, a file that changed just before its digest was taken is
 * read again, because it may change within the same clock tick.
 */
export class FileDigests {
  readonly #file: string;
  #known: Promise<Map<string, KnownDigest>> | undefined;

  /** @param file File that keeps digests between processes. */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Returns the SHA-256 digest of a file, in hexadecimal. Rejects with a `DocumentError` if the file cannot be opened
   * or exceeds the size limit.
   */
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

  async #keep(known: Map<string, KnownDigest>, path: string, { state, digest }: KnownDigest): Promise<void> {
    if (known.size >= MAX_KNOWN) {
      known.clear();
      await rm(this.#file, { force: true }).catch(() => {});
    }
    known.set(path, { state, digest });
    // If the folder is not writable, digests are kept for this process only.
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 })
      // The line also begins with a line feed: a crash may have truncated the line before it.
      .then(() => appendFile(this.#file, `\n${JSON.stringify([path, state, digest])}\n`, { mode: 0o600 }))
      .catch(() => {});
  }

  async #load(): Promise<Map<string, KnownDigest>> {
    const { size } = await stat(this.#file).catch(() => ({ size: 0 }));
    if (size > MAX_BYTES) await rm(this.#file, { force: true }).catch(() => {});
    const text = size > MAX_BYTES ? "" : await readFile(this.#file, "utf8").catch(() => "");
    const known = new Map<string, KnownDigest>();
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

/** Reads at most `size` bytes, because a file may grow while it is read. */
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

/** Returns the fields of a line; none for a truncated line. */
function fieldsIn(line: string): string[] {
  try {
    const fields: unknown = JSON.parse(line);
    return Array.isArray(fields) && fields.every((field) => typeof field === "string") ? fields : [];
  } catch {
    return [];
  }
}
