import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { WindowsRoot } from "./windows-family.ts";
import { killOnWindows } from "./windows-kill.ts";
import { readEnvironment, readProcess, readProcessTable, type ProcessRow } from "./process-table.ts";

/**
 * Environment variable that marks every descendant of a child. On Linux, it finds a process that left its group and
 * parent.
 */
export const MARKER_VARIABLE = "TOOLYARD_CHILD_ID";

/** A child and all its descendants. `pid` leads the process group. */
export interface Tree {
  readonly pid: number;
  /** Value of `MARKER_VARIABLE`. */
  readonly marker: string;
  /** Start time in clock ticks, from the process table; 0 if unknown. */
  readonly startedAt: number;
  /** Start time on the clock of `performance.now()`. */
  readonly bornAt: number;
}

/**
 * Age up to which a tree counts as young. The processes of a young tree have larger numbers than the child, unless
 * process numbers have restarted, which is detected.
 */
const YOUNG_TREE_MS = 60_000;

/** Milliseconds between two checks whether the processes of a tree have exited. */
const POLL_MS = process.platform === "linux" ? 15 : 60;
/**
 * Maximum number of checks after SIGKILL. A process in an uninterruptible wait may outlast them; nothing more can be
 * done then.
 */
const MAX_KILL_ROUNDS = 40;
const TASKKILL_TIMEOUT_MS = 5000;

/**
 * Ends a child and its descendants: SIGTERM, up to `graceMs` to exit, then SIGKILL to the group and to processes that
 * left it. Resolves when no process runs. Windows has no SIGTERM for console programs, so there they only get the time
 * to exit.
 */
export async function killTree(tree: Tree, graceMs: number): Promise<void> {
  if (process.platform === "win32") return killOnWindows(windowsRoot(tree), graceMs);
  if (graceMs > 0) {
    let living = findTree(tree);
    signalAll(tree, living, "SIGTERM");
    const end = performance.now() + graceMs;
    while (performance.now() < end) {
      living = living.filter(isAlive);
      // The whole table is read again only after the known processes have ended.
      if (living.length === 0) living = findTree(tree);
      if (living.length === 0) return;
      await sleep(Math.min(POLL_MS, Math.max(1, end - performance.now())));
    }
  }
  for (let round = 0; round < MAX_KILL_ROUNDS; round += 1) {
    const rows = findTree(tree);
    if (rows.length === 0) return;
    signalAll(tree, rows, "SIGKILL");
    await sleep(round < 4 ? 2 : POLL_MS);
  }
}

/** Kills many trees synchronously, while this process exits. */
export function killTreesNow(trees: readonly Tree[]): void {
  const table = readProcessTable();
  for (const tree of trees) {
    if (process.platform !== "win32") signalAll(tree, descendants(tree, table), "SIGKILL");
    else killTreeOnWindowsNow(tree.pid);
  }
}

/** Returns whether the group still has a member, including zombies. Cheaper than reading the process table. */
export function hasGroup(pid: number): boolean {
  return process.platform !== "win32" && signal(-pid, 0);
}

/**
 * Returns the living processes of the trees, found by parentage, group, session and marker. Reads the process table
 * once for all trees.
 */
export function findTrees(trees: readonly Tree[]): ProcessRow[] {
  const oldest = performance.now() - YOUNG_TREE_MS;
  const fromPid = trees.every((tree) => tree.bornAt > oldest) ? Math.min(...trees.map((tree) => tree.pid)) : 0;
  const table = readProcessTable(process.platform, fromPid);
  const found = new Map<number, ProcessRow>();
  for (const tree of trees) for (const row of descendants(tree, table)) found.set(row.pid, row);
  return Array.from(found.values());
}

function findTree(tree: Tree): ProcessRow[] {
  return findTrees([tree]);
}

function descendants(tree: Tree, table: readonly ProcessRow[]): ProcessRow[] {
  const family = new Set([tree.pid]);
  const rows = table.filter((row) => row.startedAt >= tree.startedAt && row.pid !== process.pid);
  const marked = new Set(rows.filter((row) => isMarked(row, tree)));
  const belongs = (row: ProcessRow) =>
    row.pid === tree.pid ||
    row.group === tree.pid ||
    row.session === tree.pid ||
    family.has(row.parent) ||
    marked.has(row);
  const result = new Set<ProcessRow>();
  // The loop repeats until nothing is added, because in the table a parent may come after its children.
  for (let size = -1; size !== result.size;) {
    size = result.size;
    for (const row of rows) {
      if (result.has(row) || !belongs(row)) continue;
      result.add(row);
      family.add(row.pid);
    }
  }
  return Array.from(result).filter((row) => !row.isZombie);
}

function isMarked(row: ProcessRow, tree: Tree): boolean {
  if (tree.startedAt === 0) return false;
  return readEnvironment(row.pid).includes(`${MARKER_VARIABLE}=${tree.marker}`);
}

/** Returns whether a process is alive. Returns false without /proc, so that the table is read again. */
function isAlive(row: ProcessRow): boolean {
  const now = readProcess(row.pid);
  return now !== undefined && now.startedAt === row.startedAt && !now.isZombie;
}

function signalAll(tree: Tree, rows: readonly ProcessRow[], name: "SIGTERM" | "SIGKILL"): void {
  // The group is killed first, in one system call, so that no member can escape by forking.
  if (rows.some((row) => row.group === tree.pid)) signal(-tree.pid, name);
  for (const row of rows) {
    if (row.group === tree.pid) continue;
    // The start time is compared, because the number may belong to another process since the table was read.
    if (row.startedAt > 0 && readProcess(row.pid)?.startedAt !== row.startedAt) continue;
    signal(row.pid, name);
  }
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // The process has already exited, or belongs to another user.
    return false;
  }
}

/** Converts the start time to the system's clock, which Windows uses for the start times of processes. */
function windowsRoot({ pid, bornAt }: Tree): WindowsRoot {
  return { pid, bornAtMs: Date.now() - (performance.now() - bornAt) };
}

function killTreeOnWindowsNow(pid: number): void {
  const options = { windowsHide: true, timeout: TASKKILL_TIMEOUT_MS };
  const { status } = spawnSync("taskkill", ["/PID", String(pid), "/T", "/F"], options);
  if (status !== 0) signal(pid, "SIGKILL");
}
