// Starts programs that start other programs, measures their total resources, and ends them with the run. Linux only: it
// reads /proc.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { cpuMs } from "./measure.mjs";

const running = new Set();
process.once("exit", () => running.forEach(stopTree));

/**
 * Starts a program. The program and its children end with this process. They are found by their parents and by a mark
 * in their environment.
 */
export function startTree([command, ...args], { env = {}, ...options }) {
  const mark = randomUUID();
  const child = spawn(command, args, { ...options, env: { ...process.env, ...env, TOOLYARD_BENCH_MARK: mark } });
  child.on("error", () => {}); // A failed start is reported as an exit.
  const tree = { child, pid: child.pid, mark: `TOOLYARD_BENCH_MARK=${mark}` };
  running.add(tree);
  return tree;
}

/** Ends a tree by process ids: the first process first, then in a second pass children that it started meanwhile. */
export function stopTree(tree) {
  running.delete(tree);
  for (let turn = 0; turn < 2; turn += 1) {
    for (const pid of pidsOf(tree)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The process has already exited.
      }
    }
  }
}

/** Returns the CPU time of each process of a tree so far, in milliseconds, without processes that run `script`. */
export function cpuOfTree(tree, script) {
  const used = new Map();
  for (const pid of pidsOf(tree)) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[1] !== script) used.set(pid, cpuMs(pid));
    } catch {
      // The process has exited meanwhile.
    }
  }
  return used;
}

/** Returns the difference between two measurements. */
export function cpuBetween(before, after) {
  let sum = 0;
  for (const [pid, used] of after) sum += used - (before.get(pid) ?? 0);
  return sum;
}

/** Returns a process, its children, and marked processes, because a daemon does not stay a child of its parent. */
function pidsOf({ pid, mark, child }) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const hasEnded = pid === undefined || (child && (child.exitCode !== null || child.signalCode !== null));
  const found = new Set(hasEnded ? [] : [pid]);
  if (mark !== undefined) for (const one of all) if (isMarked(one, mark)) found.add(one);
  const parents = all.map((one) => [one, parentOf(one)]);
  // The loop repeats until nothing is added, because a child may be listed before its parent.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const [one, parent] of parents) if (found.has(parent)) found.add(one);
  }
  return [...found];
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ", 2)[1]);
  } catch {
    return 0; // The process has exited meanwhile.
  }
}

function isMarked(pid, mark) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(mark);
  } catch {
    return false; // The process has exited, or belongs to another user.
  }
}
