import { statSync, type Stats } from "node:fs";

/**
 * The state of a file or folder without its content. Times are in milliseconds with fractions. Two writes within the
 * same clock tick have the same stamp, so a stamp of a recently written file is not trusted (see `isYoung`).
 */
export interface FileStamp {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly size: number;
  readonly inode: number;
  readonly device: number;
  readonly mode: number;
}

/**
 * Age in milliseconds below which a file counts as young: it may change again within the same tick of the file system's
 * clock.
 */
const YOUNG_MS = 50;

/** Returns the stamp of a path; `undefined` if nothing exists there or nothing is accessible. */
export function stampOf(path: string): FileStamp | undefined {
  const stats = statsOf(path);
  return stats && toStamp(stats);
}

export function toStamp({ mtimeMs, ctimeMs, size, ino, dev, mode }: Stats): FileStamp {
  return { mtimeMs, ctimeMs, size, inode: ino, device: dev, mode };
}

/** Returns whether a path is unchanged, without creating a stamp, because this is the hot path of a sweep. */
export function looksLike(path: string, stamp: FileStamp | undefined): boolean {
  const stats = statsOf(path);
  if (stats === undefined || stamp === undefined) return (stats === undefined) === (stamp === undefined);
  return isStamped(stats, stamp);
}

export function isStamped(stats: Stats, stamp: FileStamp): boolean {
  return (
    stats.mtimeMs === stamp.mtimeMs &&
    stats.ctimeMs === stamp.ctimeMs &&
    stats.size === stamp.size &&
    stats.ino === stamp.inode &&
    stats.dev === stamp.device &&
    stats.mode === stamp.mode
  );
}

/** Returns whether a stamp is young. `now`: start time of the check, in milliseconds since 1970. */
export function isYoung(stamp: FileStamp | undefined, now: number): boolean {
  return stamp !== undefined && (stamp.ctimeMs > now - YOUNG_MS || stamp.mtimeMs > now - YOUNG_MS);
}

export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, NO_THROW);
  } catch {
    return undefined;
  }
}

const NO_THROW = Object.freeze({ throwIfNoEntry: false });
