import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../../core/json/json.ts";
import { isAlive } from "../../../files/file-lock.ts";

/** Paths of the install records of one command, for all hubs of this user. */
export interface InstallFiles {
  /** Lock with the process id of the downloading process. */
  readonly lock: string;
  /** Output of the program. */
  readonly log: string;
  /** Result of the last download. */
  readonly result: string;
  /** Empty folder that exists during the download. */
  readonly scratch: string;
  /** Marker that exists from a repair until the next successful start. */
  readonly mended: string;
}

export interface InstallResult {
  readonly ok: boolean;
  /** End time in milliseconds since 1970. */
  readonly at: number;
  /** Reason of the failure: `timeout`, `ended` if a user ended the download, or `exit`. */
  readonly reason?: string;
  /** Last lines of the program's output. */
  readonly lines: readonly string[];
  /** Identity of the cache when the download ended. If the current one differs, the cache was cleared. */
  readonly cache?: string;
}

/** Time in milliseconds from the end of a download's time limit until its lock counts as abandoned. */
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

/** Returns the process that downloads; undefined if there is none. */
export function installingProcess({ lock }: InstallFiles, maxMs: number): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(lock, "utf8"), 10);
    const isOld = Date.now() - statSync(lock).mtimeMs > maxMs + LOCK_MARGIN_MS;
    return pid > 0 && !isOld && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Text after the process id in the lock of a server's start that downloads its own packages. */
export const START_MARK = "\nstart";

/** Returns whether the lock belongs to a start. Its process may have become a server that is no longer needed. */
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

/** Splits output into lines as a terminal would finally show them, without escape sequences. */
export function toLines(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.replace(ESCAPES, "").trim())
    .filter((line) => line !== "");
}

// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;

/** Returns a text that distinguishes a cache folder from a later folder at the same path. Empty if it is missing. */
export function cacheIdentity(folder: string | undefined): string {
  if (folder === undefined) return "";
  try {
    const { ino, birthtimeMs } = statSync(folder);
    return `${ino}-${Math.floor(birthtimeMs)}`;
  } catch {
    return "";
  }
}
