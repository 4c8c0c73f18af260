import { readFileSync } from "node:fs";
import { readFamily } from "../../process/process-table.ts";

/** Interval of the checks in milliseconds, which is also the maximum excess over a limit. */
const LOOK_EVERY_MS = 100;
/** The kernel reports times in hundredths of a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;
const MAX_PROCESSES = 256;

/**
 * Calls `onOver` once a process and its descendants have used more than `cpuMs` of processor time from now on. A
 * persistent interpreter serves many calls, so the system's own limit would count all calls together. Has no effect on
 * systems other than Linux. Returns a function that stops the measurement.
 */
export function watchCpu(pid: number, cpuMs: number | undefined, onOver: () => void): () => void {
  const begun = cpuOf(pid);
  if (cpuMs === undefined || begun === undefined) return () => {};
  const timer = setInterval(() => {
    if ((cpuOf(pid) ?? 0) <= begun + cpuMs) return;
    clearInterval(timer);
    onOver();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Returns the processor time of a process, its living descendants and those that it has waited for, in milliseconds.
 * Linux only.
 */
export function cpuOf(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const ticks = readFamily(pid, MAX_PROCESSES).reduce((sum, member) => sum + ticksOf(member), 0);
  return ticks * MS_PER_TICK;
}

// Format: `pid (command) state …`. Fields 14 to 17 are the process's times in user and system mode, and those of its
// ended children.
function ticksOf(pid: number): number {
  const text = read(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, field) => sum + (Number(field) || 0), 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
