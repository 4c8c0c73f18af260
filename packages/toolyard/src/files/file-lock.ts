import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../core/errors.ts";

export interface LockOptions {
  /** How long to wait for the current holder. @default 10 s */
  readonly waitMs?: number;
  /** An older lock is free, even if a process has the holder's number now. @default 2 minutes */
  readonly staleMs?: number;
  readonly signal?: AbortSignal;
}

/** The lock could not be had in time. */
export class LockTaken extends Error {
  override readonly name = "LockTaken";
}

/**
 * Runs `work` while holding a lock file among the processes of this machine. The lock of an exited process is taken
 * over. Rejects with `LockTaken` if it is not free in time, and with the system's error if the file cannot be created.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const { waitMs = 10_000, staleMs = 120_000, signal } = options;
  await mkdir(dirname(path), { recursive: true });
  const until = performance.now() + waitMs;
  while (!(await tryTake(path))) {
    signal?.throwIfAborted();
    // A caller that does not wait for a living holder can still take a dead one's lock.
    if (await breakDead(path, staleMs)) continue;
    if (performance.now() > until)
      throw new LockTaken(`${path} is held by another process. Remove it if no such process runs.`);
    await pause(POLL_MS, undefined, signal ? { signal } : {});
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

const POLL_MS = 15;
/** Breaking a lock needs a few system calls; a process that takes longer has died doing so. */
const BREAKING_MS = 10_000;
const PRIVATE_MODE = 0o600;

async function tryTake(path: string): Promise<boolean> {
  const handle = await open(path, "wx", PRIVATE_MODE).catch((error: unknown) => {
    // Windows reports EPERM while a file of that name is being removed.
    const code = codeOf(error);
    if (code === "EEXIST" || (code === "EPERM" && process.platform === "win32")) return undefined;
    throw error;
  });
  if (!handle) return false;
  try {
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    // A full disk creates the file without its content. Without a holder, all others would wait until it is stale.
    await handle.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Removes a dead holder's lock. One process does so at a time and checks again first, so that none removes a lock that
 * another has just taken. Returns true if there is no lock now.
 */
async function breakDead(path: string, staleMs: number): Promise<boolean> {
  if (!(await isDead(path, staleMs))) return false;
  const breaking = `${path}.breaking`;
  if (!(await tryTake(breaking))) {
    if (await isOlder(breaking, BREAKING_MS)) await rm(breaking, { force: true });
    return false;
  }
  try {
    if (!(await isDead(path, staleMs))) return false;
    await rm(path, { force: true });
    return true;
  } finally {
    await rm(breaking, { force: true });
  }
}

async function isDead(path: string, staleMs: number): Promise<boolean> {
  if (await isOlder(path, staleMs)) return true;
  const pid = Number.parseInt(await readFile(path, "utf8").catch(() => ""), 10);
  // The creator of the file may not have written its number yet.
  return pid > 0 && !isAlive(pid);
}

async function isOlder(path: string, ms: number): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ms;
}

/** Returns whether a process with this number runs, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
