import { statSync, type Stats } from "node:fs";

/**
 * What tells one state of a file or folder from the next without reading it. Times are in milliseconds with fractions:
 * two writes within the same clock tick look alike, which is why a young stamp is not trusted (see `isYoung`).
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
 * Whatever changed this shortly before a look may have changed once more within the same tick of the file system's
 * clock.
 */
const YOUNG_MS = 50;

/** `undefined` when there is nothing, or nothing that may be looked at. */
export function stampOf(path: string): FileStamp | undefined {
  const stats = statsOf(path);
  return stats && toStamp(stats);
}

export function toStamp({ mtimeMs, ctimeMs, size, ino, dev, mode }: Stats): FileStamp {
  return { mtimeMs, ctimeMs, size, inode: ino, device: dev, mode };
}

/** Whether a path still looks as it did, without making a stamp: this is the hot path of a sweep. */
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

/** `now` is the time at which the look began, in milliseconds since 1970. */
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
