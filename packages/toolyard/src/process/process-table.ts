import { readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";

/** One process of this machine, with the facts that killing its tree requires. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time in clock ticks since boot; 0 if the platform does not report it. */
  readonly startedAt: number;
  /** Processor time in clock ticks; 0 if the platform does not report it. */
  readonly workedTicks: number;
  /** True if the process has exited and its parent has not collected its exit status. */
  readonly isZombie: boolean;
}

/**
 * Returns all visible processes. Linux: read synchronously from /proc, which is memory, so that the snapshot is
 * consistent. macOS: from `ps`. Windows: empty, because `taskkill` walks the tree.
 *
 * `fromPid`: on Linux, omits processes with a smaller number, for callers that search for processes started after that
 * process. This is correct only for a recent process, because numbers are assigned in order and start again.
 */
export function readProcessTable(platform: NodeJS.Platform = process.platform, fromPid = 0): ProcessRow[] {
  if (platform === "linux") return readProc(hasWrapped(fromPid) ? 0 : fromPid);
  if (platform === "win32") return [];
  return readPs();
}

/** Returns one row of the table; `undefined` if the process has exited or the platform has no /proc. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** Returns the numbers of a process and all its descendants on Linux; only that of the process on other systems. */
export function readFamily(pid: number, maxProcesses: number): readonly number[] {
  const family = [pid];
  // The list grows during the loop, so that descendants of all levels are added.
  for (const member of family) {
    if (family.length >= maxProcesses) break;
    family.push(...childrenOf(member));
  }
  return family;
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/**
 * Returns the environment block with which a process was started. Empty if it cannot be read, or if the system is not
 * Linux.
 */
export function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/**
 * Returns whether process numbers have restarted from the beginning since `pid` was assigned. The last field of
 * /proc/loadavg is the latest number.
 */
function hasWrapped(pid: number): boolean {
  try {
    return !(Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ").at(-1)) >= pid);
  } catch {
    return true;
  }
}

function readProc(fromPid: number): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of readdirSync("/proc")) {
    const first = name.charCodeAt(0);
    if (first < 49 || first > 57) continue;
    const pid = Number(name);
    if (pid < fromPid) continue;
    const row = readProcess(pid);
    if (row) rows.push(row);
  }
  return rows;
}

// Format: `pid (command) state ppid pgrp session …`. The command may contain spaces and brackets, so fields are counted
// after the last bracket.
function parseStat(text: string): ProcessRow | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  if (state === undefined || session === undefined) return undefined;
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(fields[19] ?? 0),
    workedTicks: Number(fields[11] ?? 0) + Number(fields[12] ?? 0),
    isZombie: state === "Z" || state === "X",
  };
}

const PS_TIMEOUT_MS = 2000;

function readPs(): ProcessRow[] {
  const { stdout } = spawnSync("/bin/ps", ["-axo", "pid=,ppid=,pgid=,state="], {
    encoding: "utf8",
    timeout: PS_TIMEOUT_MS,
  });
  return parsePs(stdout ?? "");
}

/** Parses the output of `ps -axo pid=,ppid=,pgid=,state=`. */
function parsePs(text: string): ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (!pid || !parent || !group) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        startedAt: 0,
        workedTicks: 0,
        isZombie: state?.startsWith("Z") ?? false,
      },
    ];
  });
}
