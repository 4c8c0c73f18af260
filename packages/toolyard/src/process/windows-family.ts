import { execFile, type ExecFileOptions } from "node:child_process";
import { promisify } from "node:util";

/** One process of Windows. */
export interface WindowsRow {
  readonly pid: number;
  /** Number of the parent, which may have exited. */
  readonly parent: number;
  /** Start time in milliseconds since 1970. */
  readonly bornAtMs: number;
}

export type WindowsRoot = Pick<WindowsRow, "pid" | "bornAtMs">;

/** Maximum difference between this process's clock and the system's clock. */
const CLOCKS_MS = 5000;
const OPTIONS: ExecFileOptions = { windowsHide: true, timeout: 20_000, maxBuffer: 8 * 1024 * 1024 };
const LIST =
  "Get-CimInstance Win32_Process | ForEach-Object { " +
  "'{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() }";
const run = promisify(execFile);

/**
 * Returns the running descendants of a process that may have exited. Windows does not end grandchildren with a program,
 * and `taskkill` cannot walk a tree after its root has exited. Resolves with undefined if the system does not report
 * processes. Takes almost a second.
 */
export async function livingFamily(root: WindowsRoot): Promise<readonly number[] | undefined> {
  try {
    const { stdout } = await run("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", LIST], OPTIONS);
    return familyOf(root, parseWindowsTable(String(stdout)));
  } catch {
    return undefined;
  }
}

export async function endFamily(root: WindowsRoot): Promise<void> {
  const living = (await livingFamily(root)) ?? [root.pid];
  for (const pid of living) await run("taskkill", ["/PID", String(pid), "/T", "/F"], OPTIONS).catch(() => {});
}

/** Parses the output of `LIST`. */
export function parseWindowsTable(text: string): readonly WindowsRow[] {
  return Array.from(text.matchAll(/^(\d+) (\d+) (-?\d+)\s*$/gm), ([, pid, parent, bornAtMs]) => ({
    pid: Number(pid),
    parent: Number(parent),
    bornAtMs: Number(bornAtMs),
  }));
}

/**
 * Returns the descendants of a process. A process that is older than its supposed parent does not count, because
 * process numbers are reused.
 */
export function familyOf(root: WindowsRoot, table: readonly WindowsRow[]): readonly number[] {
  const there = table.find((row) => row.pid === root.pid);
  const isStranger = there !== undefined && Math.abs(there.bornAtMs - root.bornAtMs) > CLOCKS_MS;
  // If a new process has the number of the root, its own children started after it, so they are not counted.
  const until = isStranger ? there.bornAtMs : Infinity;
  const members: WindowsRoot[] = [{ pid: root.pid, bornAtMs: root.bornAtMs - CLOCKS_MS }];
  // The list grows during the loop, so that descendants of all levels are added.
  for (const [at, { pid, bornAtMs }] of members.entries()) {
    const known = new Set(members.map((member) => member.pid));
    const isOwn = (row: WindowsRow): boolean => row.bornAtMs >= bornAtMs && (at > 0 || row.bornAtMs < until);
    members.push(...table.filter((row) => row.parent === pid && !known.has(row.pid) && isOwn(row)));
  }
  return members.slice(there && !isStranger ? 0 : 1).map(({ pid }) => pid);
}
