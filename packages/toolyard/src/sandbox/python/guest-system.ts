import type { Descriptors, Device } from "./descriptors.ts";
import type { GuestMemory } from "./guest-memory.ts";
import type { MemoryTree } from "./memory-tree.ts";

/** Throws `GuestError` to fail; the guest gets its number. */
export type GuestCall = (...args: never[]) => void;

export interface GuestSystem {
  /** Known once the interpreter is instantiated. */
  readonly memory: GuestMemory;
  readonly tree: MemoryTree;
  readonly descriptors: Descriptors;
  /** Files that are devices, by their path from the root: `.rpc`. */
  readonly devices: ReadonlyMap<string, Device>;
  readonly args: readonly string[];
  /** Called before the guest is told the time; may throw `GuestParked`. */
  beforeTime(): void;
  /** Stands still for that long, in milliseconds. */
  sleep(ms: number): void;
}
