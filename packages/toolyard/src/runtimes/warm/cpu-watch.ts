import { readFileSync } from "node:fs";
import { readFamily } from "../../process/process-table.ts";

/** Time between two looks, and so the most by which a bound is passed. */
const LOOK_EVERY_MS = 100;
/** The kernel tells times in hundredths of a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;
const MAX_PROCESSES = 256;

/**
 * Calls `onOver` once a process and its descendants have computed for more than `cpuMs` since now. An interpreter that
 * stays serves many calls, so the system's own bound would count them together. Linux only; elsewhere it watches
 * nothing. Returns what ends it.
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
 * What a process, its living descendants and those that it has waited for have computed, in milliseconds. Linux only.
 */
export function cpuOf(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const ticks = readFamily(pid, MAX_PROCESSES).reduce((sum, member) => sum + ticksOf(member), 0);
  return ticks * MS_PER_TICK;
}

// `pid (command) state …`: times of its own in user and system mode, and of children waited for, are fields 14 to 17.
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
