import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../core/errors.ts";

export interface LockOptions {
  /** Maximum time to wait for the current holder, in milliseconds. @default 10 s */
  readonly waitMs?: number;
  /**
   * Age in milliseconds from which a lock can be taken over, even if a process with the holder's id is running.
   * @default 2 minutes
   */
  readonly staleMs?: number;
  readonly signal?: AbortSignal;
}

/** Thrown if the lock was not free in time. */
export class LockTaken extends Error {
  override readonly name = "LockTaken";
}

/**
 * Runs `work` while holding a lock file that all processes of this machine respect. Takes over the lock of an exited
 * process. Rejects with `LockTaken` if the lock is not free in time, and with the system's error if the file cannot be
 * created.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const { waitMs = 10_000, staleMs = 120_000, signal } = options;
  await mkdir(dirname(path), { recursive: true });
  const until = performance.now() + waitMs;
  while (!(await tryTake(path))) {
    signal?.throwIfAborted();
    // The lock of an exited process can be taken over even by a caller that does not wait.
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
/**
 * Maximum time for breaking a lock, which needs a few system calls. A process that needs more time has probably exited.
 */
const BREAKING_MS = 10_000;
const PRIVATE_MODE = 0o600;

async function tryTake(path: string): Promise<boolean> {
  const handle = await open(path, "wx", PRIVATE_MODE).catch((error: unknown) => {
    // Windows reports EPERM while a file of this name is being removed, so this code is treated like an existing file.
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
    // On a full disk the file is created without its content. It is removed, because without a holder all others would
    // wait until the lock is stale.
    await handle.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Removes the lock of an exited holder. Only one process does so at a time, and it checks again first, so that no
 * process removes a lock that another has just taken. Returns true if there is no lock now.
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
  // If the file has no process id yet, its creator may still be writing it, so the holder counts as running.
  return pid > 0 && !isAlive(pid);
}

async function isOlder(path: string, ms: number): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ms;
}

/** Returns whether a process with this id is running, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
