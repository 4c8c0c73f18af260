// Measures the CPU time and the memory of a process, and combines the values of several rounds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";

/**
 * Returns the CPU time of a process's threads so far, in milliseconds (Linux). Other load of the machine affects it
 * only through the CPU caches.
 */
export function cpuMs(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + nanoseconds(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1e6;
}

/**
 * Returns the CPU time of this process's ended children and their descendants so far, in milliseconds (Linux). The
 * kernel reports it in steps of 10 ms, so combine several runs.
 */
export function endedChildrenCpuMs() {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(13, 15);
  return (Number(user) + Number(system)) * 10;
}

/** Returns the CPU time of a command from start to end, averaged over some runs. */
export async function commandCpuMs(command, args, { env = process.env, runs = 5 } = {}) {
  const before = endedChildrenCpuMs();
  for (let run = 0; run < runs; run += 1) await runMs(command, args, env);
  return (endedChildrenCpuMs() - before) / runs;
}

function nanoseconds(path) {
  try {
    return Number(readFileSync(path, "utf8").split(" ", 1)[0]);
  } catch {
    return 0; // The thread has ended, so it is not counted.
  }
}

/**
 * Returns the resident memory of a process in megabytes (Linux): in total, and the part that is not shared with files
 * on disk.
 */
export function memoryMb(pid) {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]) / 1024;
  return { resident: of("VmRSS"), own: of("RssAnon") };
}

export async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Returns the wall-clock time of a command from start to end. */
export function runMs(command, args, env = process.env) {
  return timed(async () => {
    const [code] = await once(spawn(command, args, { stdio: "ignore", env }), "exit");
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}.`);
  });
}

export const least = (values) => Math.min(...values);

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Formats milliseconds: the minimum of the rounds, followed by the median. */
export const ms = (value) =>
  value < 1 ? `${(value * 1000).toFixed(0)} µs` : `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const spread = (values) => `${ms(least(values))} (median ${ms(median(values))})`;
