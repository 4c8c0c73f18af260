import { findCommand, type CommandPlace } from "./resolve-command.ts";

/**
 * Limits that the operating system enforces. Each limit applies to one process and again to each of its children,
 * except `processes`.
 */
export interface ResourceLimits {
  readonly memoryBytes?: number;
  /** Processor time in milliseconds; waiting does not count. */
  readonly cpuMs?: number;
  /** Maximum number of concurrent processes and threads of the user. Does not apply to root. */
  readonly processes?: number;
  readonly openFiles?: number;
  /** Maximum size of one written file. */
  readonly fileBytes?: number;
}

/**
 * Kind of memory that `memoryBytes` limits. `address-space`: all mappings. `data`: private writable memory, for
 * runtimes that reserve far more than they use (Node, Deno, Java) and do not start with a limit on the address space.
 */
export type MemoryMeasure = "address-space" | "data";

/**
 * Since Node 24, V8 reserves memory for compiled code, which counts as data even if unused. Node does not start without
 * it.
 */
const NODE_CODE_BYTES = 576 * 1024 * 1024;
const FIRST_NODE_WITH_CODE_ROOM = 24;

/**
 * Returns the data limit for a program on this Node release: the memory for the program, plus the memory that Node
 * reserves.
 */
export function nodeDataBytes(memoryBytes: number, release: string = process.versions.node): number {
  return Number.parseInt(release, 10) >= FIRST_NODE_WITH_CODE_ROOM ? memoryBytes + NODE_CODE_BYTES : memoryBytes;
}

/** Returns whether any limit is set. */
export function hasLimits(limits: ResourceLimits): boolean {
  return Object.values(limits).some((value) => value !== undefined);
}

/**
 * Builds the arguments of util-linux's `prlimit` for these limits; the command must follow them. Core files are
 * disabled.
 */
export function prlimitArguments(
  { memoryBytes, cpuMs, processes, openFiles, fileBytes }: ResourceLimits,
  measure: MemoryMeasure,
): string[] {
  const seconds = cpuMs === undefined ? undefined : Math.max(1, Math.ceil(cpuMs / 1000));
  return [
    ...(memoryBytes === undefined ? [] : [`--${measure === "data" ? "data" : "as"}=${memoryBytes}`]),
    // The soft limit sends SIGXCPU, which a traceback or exit status shows. The hard limit kills the process; it cannot
    // be caught.
    ...(seconds === undefined ? [] : [`--cpu=${seconds}:${seconds + 1}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}`]),
    ...(fileBytes === undefined ? [] : [`--fsize=${fileBytes}`]),
    "--core=0",
  ];
}

/** Returns the full path of `prlimit`, or `undefined` if the platform has none. */
export function findPrlimit(place: CommandPlace): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return findCommand("prlimit", place);
  } catch {
    return undefined;
  }
}
