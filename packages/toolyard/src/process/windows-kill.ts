import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { livingFamily, type WindowsRoot } from "./windows-family.ts";

const POLL_MS = 60;
const TASKKILL_TIMEOUT_MS = 5000;
/** Exit code of `taskkill` if no process has the number. */
const NO_PROCESS = 128;

/** Functions of Windows that end a process tree; a test replaces them. */
export interface WindowsSystem {
  readonly isAlive: (pid: number) => boolean;
  /** Ends a process and its descendants. Resolves with the exit code, or with undefined if `taskkill` did not run. */
  readonly taskkill: (pid: number) => Promise<number | undefined>;
  /** Returns the living descendants of a process that may have exited; undefined if the system does not report them. */
  readonly livingFamily: (root: WindowsRoot) => Promise<readonly number[] | undefined>;
  /** Ends one process. */
  readonly terminate: (pid: number) => void;
}

const LOCAL: WindowsSystem = {
  isAlive: (pid) => signal(pid, 0),
  taskkill,
  livingFamily,
  terminate: (pid) => void signal(pid, "SIGKILL"),
};

/**
 * Waits up to `graceMs` for a process to exit by itself, because Windows has no SIGTERM for console programs. Then ends
 * the process and its descendants. `taskkill` cannot walk a tree after its root has exited. In that case, or if it
 * fails, the descendants are ended one by one.
 */
export async function killOnWindows(root: WindowsRoot, graceMs: number, system: WindowsSystem = LOCAL): Promise<void> {
  const end = performance.now() + graceMs;
  while (performance.now() < end && system.isAlive(root.pid)) await sleep(POLL_MS);
  const wasAlive = system.isAlive(root.pid);
  if (wasAlive && (await system.taskkill(root.pid)) === 0) return;
  const left = (await system.livingFamily(root)) ?? (wasAlive ? [root.pid] : []);
  for (const pid of left) {
    const code = await system.taskkill(pid);
    if (code !== 0 && code !== NO_PROCESS && system.isAlive(pid)) system.terminate(pid);
  }
}

function taskkill(pid: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const options = { windowsHide: true, timeout: TASKKILL_TIMEOUT_MS };
    execFile("taskkill", ["/PID", String(pid), "/T", "/F"], options, (error) => {
      if (!error) return resolve(0);
      resolve(typeof error.code === "number" ? error.code : undefined);
    });
  });
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // The process has exited, or belongs to another user.
    return false;
  }
}
