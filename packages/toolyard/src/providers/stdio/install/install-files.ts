import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../../core/json/json.ts";
import { isAlive } from "../../../files/file-lock.ts";

/** Where the downloads of one command are kept book of, for every hub of this user. */
export interface InstallFiles {
  /** Held by the process that downloads, with its number. */
  readonly lock: string;
  /** What the program says. */
  readonly log: string;
  /** How the last download ended. */
  readonly result: string;
  /** An empty folder for the time of the download. */
  readonly scratch: string;
  /** Present while something was mended and has not started since. */
  readonly mended: string;
}

export interface InstallResult {
  readonly ok: boolean;
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  /** Why it failed: `timeout`, `ended` by somebody, or `exit`. */
  readonly reason?: string;
  /** The last lines that the program wrote. */
  readonly lines: readonly string[];
  /** The cache as it was then; another or none by now: it was cleared. */
  readonly cache?: string;
}

/** Beyond its bound a lock belongs to nobody. */
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

/** The process that downloads, if there is one. */
export function installingProcess({ lock }: InstallFiles, maxMs: number): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(lock, "utf8"), 10);
    const isOld = Date.now() - statSync(lock).mtimeMs > maxMs + LOCK_MARGIN_MS;
    return pid > 0 && !isOld && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Follows the number in the lock of a start that downloads by itself. */
export const START_MARK = "\nstart";

/** Whether the lock is that of a start, which may have become a server that nobody needs. */
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

/** The last lines of what the program said so far. */
export function logTail({ log }: InstallFiles): readonly string[] {
  try {
    return toLines(readFileSync(log).subarray(-MAX_TAIL_BYTES).toString("utf8"));
  } catch {
    return [];
  }
}

/** What a terminal would show last of each line, without what paints it. */
export function toLines(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.replace(ESCAPES, "").trim())
    .filter((line) => line !== "");
}

// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001B\[[0-9;?]*[A-Za-z]/g;

/** What tells a cache folder from another one at the same place. Empty: it is not there. */
export function cacheIdentity(folder: string | undefined): string {
  if (folder === undefined) return "";
  try {
    const { ino, birthtimeMs } = statSync(folder);
    return `${ino}-${Math.floor(birthtimeMs)}`;
  } catch {
    return "";
  }
}
