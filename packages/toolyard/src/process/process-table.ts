import { readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";

/** A process of this machine: the facts that killing a tree needs. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot at its start; 0 where the platform does not say. */
  readonly startedAt: number;
  /** Clock ticks for which it had a processor; 0 where the platform does not say. */
  readonly workedTicks: number;
  /** Ended, and waiting for its parent to notice. */
  readonly isZombie: boolean;
}

/**
 * Returns all visible processes. Linux: read synchronously from /proc, which is memory, so that the snapshot is
 * consistent. macOS: from `ps`. Windows: empty, because `taskkill` walks the tree.
 *
 * With `fromPid`, Linux omits smaller numbers, for callers that look for processes started after that one: numbers are
 * assigned in order, and the caller knows that it was recent.
 */
export function readProcessTable(platform: NodeJS.Platform = process.platform, fromPid = 0): ProcessRow[] {
  if (platform === "linux") return readProc(hasWrapped(fromPid) ? 0 : fromPid);
  if (platform === "win32") return [];
  return readPs();
}

/** Returns one row of the table; `undefined` if the process has exited or there is no /proc. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}

/** Returns a process and all its descendants on Linux; only the process on other systems. */
export function readFamily(pid: number, maxProcesses: number): readonly number[] {
  const family = [pid];
  // The list grows during the loop.
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

/** The environment block that a process was started with, on Linux and where it may be read. */
export function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/**
 * Returns whether process numbers started anew since `pid` was assigned. The latest number is the last field of
 * /proc/loadavg.
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

// `pid (command) state ppid pgrp session …`: the command may hold blanks and brackets, so count from the last bracket.
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
