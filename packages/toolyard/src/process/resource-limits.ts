import { findCommand, type CommandPlace } from "./resolve-command.ts";

/**
 * Limits that the operating system enforces. Each applies to one process; children start with the same limits anew,
 * except for `processes`.
 */
export interface ResourceLimits {
  readonly memoryBytes?: number;
  /** Computing, not waiting. */
  readonly cpuMs?: number;
  /** Processes and threads of the user at a time. Does not bind root. */
  readonly processes?: number;
  readonly openFiles?: number;
  /** Size of one file that is written. */
  readonly fileBytes?: number;
}

/**
 * Kind of memory that `memoryBytes` limits. `address-space`: all mappings. `data`: private writable memory; for
 * runtimes that reserve far more than they use (Node, Deno, Java) and do not start with the other.
 */
export type MemoryMeasure = "address-space" | "data";

/**
 * V8 since Node 24 keeps room for compiled code, which counts as data though it is not used; without it Node does not
 * start.
 */
const NODE_CODE_BYTES = 576 * 1024 * 1024;
const FIRST_NODE_WITH_CODE_ROOM = 24;

/** Returns the data limit for a program on this Node release: its own memory, and what Node reserves. */
export function nodeDataBytes(memoryBytes: number, release: string = process.versions.node): number {
  return Number.parseInt(release, 10) >= FIRST_NODE_WITH_CODE_ROOM ? memoryBytes + NODE_CODE_BYTES : memoryBytes;
}

/** True when there is a bound among them. */
export function hasLimits(limits: ResourceLimits): boolean {
  return Object.values(limits).some((value) => value !== undefined);
}

/**
 * Arguments of util-linux's `prlimit` for these bounds; what follows them is the command. No core file is ever written.
 */
export function prlimitArguments(
  { memoryBytes, cpuMs, processes, openFiles, fileBytes }: ResourceLimits,
  measure: MemoryMeasure,
): string[] {
  const seconds = cpuMs === undefined ? undefined : Math.max(1, Math.ceil(cpuMs / 1000));
  return [
    ...(memoryBytes === undefined ? [] : [`--${measure === "data" ? "data" : "as"}=${memoryBytes}`]),
    // The soft limit raises SIGXCPU, which a traceback or exit status shows; the hard limit cannot be caught.
    ...(seconds === undefined ? [] : [`--cpu=${seconds}:${seconds + 1}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}`]),
    ...(fileBytes === undefined ? [] : [`--fsize=${fileBytes}`]),
    "--core=0",
  ];
}

/** The full path of `prlimit`, or `undefined` where the platform has none. */
export function findPrlimit(place: CommandPlace): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return findCommand("prlimit", place);
  } catch {
    return undefined;
  }
}
