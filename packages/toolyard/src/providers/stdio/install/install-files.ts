import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../../core/json/json.ts";
import { isAlive } from "../../../files/file-lock.ts";

/** The install records of one command, for every hub of this user. */
export interface InstallFiles {
  /** Held by the downloading process, with its process id. */
  readonly lock: string;
  /** The program's output. */
  readonly log: string;
  /** The result of the last download. */
  readonly result: string;
  /** An empty folder for the time of the download. */
  readonly scratch: string;
  /** Present while a repaired install has not started since. */
  readonly mended: string;
}

export interface InstallResult {
  readonly ok: boolean;
  /** End time, in milliseconds since 1970. */
  readonly at: number;
  /** Reason of the failure: `timeout`, `ended` by a user, or `exit`. */
  readonly reason?: string;
  /** The last lines that the program wrote. */
  readonly lines: readonly string[];
  /** Identity of the cache at that time; a different one now means that it was cleared. */
  readonly cache?: string;
}

/** A lock held longer than its limit plus this has no owner. */
export const LOCK_MARGIN_MS = 60_000;
const MAX_TAIL_BYTES = 8192;

export function installFiles(folder: string, key: string): InstallFiles {
  const path = (ending: string): string => join(folder, `${key}.${ending}`);
  return {
    lock: path("lock"),
    log: path("log"),
    result: path("json"),
    scratch: path("scratch"),
    mended: path("mended"),
  };
}

/** Returns the process that downloads, if there is one. */
export function installingProcess({ lock }: InstallFiles, maxMs: number): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(lock, "utf8"), 10);
    const isOld = Date.now() - statSync(lock).mtimeMs > maxMs + LOCK_MARGIN_MS;
    return pid > 0 && !isOld && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Follows the process id in the lock of a start that downloads by itself. */
export const START_MARK = "\nstart";

/** Returns whether the lock belongs to a start, which may have become an unneeded server. */
export function isStart({ lock }: InstallFiles): boolean {
  try {
    return readFileSync(lock, "utf8").endsWith(START_MARK);
  } catch {
    return false;
  }
}

export function readResult({ result }: InstallFiles): InstallResult | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(result, "utf8"));
    if (!isJsonObject(value) || typeof value["ok"] !== "boolean" || typeof value["at"] !== "number") return undefined;
    const { ok, at, reason, lines, cache } = value;
    return {
      ok,
      at,
      lines: Array.isArray(lines) ? lines.filter((line) => typeof line === "string") : [],
      ...(typeof reason === "string" && { reason }),
      ...(typeof cache === "string" && { cache }),
    };
  } catch {
    return undefined;
  }
}

/** Returns the last lines of the program's output so far. */
export function logTail({ log }: InstallFiles): readonly string[] {
  try {
    return toLines(readFileSync(log).subarray(-MAX_TAIL_BYTES).toString("utf8"));
  } catch {
    return [];
  }
}

/** Returns the final text of each line in a terminal, without escape sequences. */
export function toLines(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.replace(ESCAPES, "").trim())
    .filter((line) => line !== "");
}

// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;

/** Returns an identity that distinguishes a cache folder from a later one at the same path. Empty: it is missing. */
export function cacheIdentity(folder: string | undefined): string {
  if (folder === undefined) return "";
  try {
    const { ino, birthtimeMs } = statSync(folder);
    return `${ino}-${Math.floor(birthtimeMs)}`;
  } catch {
    return "";
  }
}
