import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../core/errors.ts";

export interface LockOptions {
  /** How long to wait for whoever holds it. @default 10 s */
  readonly waitMs?: number;
  /** A lock that is older belongs to nobody, whatever process has the holder's number by now. @default 2 minutes */
  readonly staleMs?: number;
  readonly signal?: AbortSignal;
}

/** The lock could not be had in time. */
export class LockTaken extends Error {
  override readonly name = "LockTaken";
}

/**
 * Holds a file as a lock among processes of this machine while `work` runs. A lock whose process has died is taken
 * over. Rejects with `LockTaken` when it cannot be had in time, and with the system's error where no file can be made.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const { waitMs = 10_000, staleMs = 120_000, signal } = options;
  await mkdir(dirname(path), { recursive: true });
  const until = performance.now() + waitMs;
  while (!(await tryTake(path))) {
    signal?.throwIfAborted();
    // Whoever does not wait for the living does not have to fail for the dead.
    if (await breakDead(path, staleMs)) continue;
    if (performance.now() > until)
      throw new LockTaken(`${path} is held by another process. Remove it if none of them runs.`);
    await pause(POLL_MS, undefined, signal ? { signal } : {});
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

const POLL_MS = 15;
/** Breaking a lock takes a few calls of the system; whoever takes longer has died at it. */
const BREAKING_MS = 10_000;
const PRIVATE_MODE = 0o600;

async function tryTake(path: string): Promise<boolean> {
  const handle = await open(path, "wx", PRIVATE_MODE).catch((error: unknown) => {
    // Windows says EPERM while a file of that name is being removed.
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
    // A full disk takes the file and not what is in it: without a holder, all others would wait until it is stale.
    await handle.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Removes a dead holder's lock. Only one process does so at a time and looks again first, so that none removes the lock
 * that another has just taken. True: it is gone.
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
  // Whoever has just made the file has not written its number yet.
  return pid > 0 && !isAlive(pid);
}

async function isOlder(path: string, ms: number): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ms;
}

/** Whether a process of that number runs, whoever's it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
