import type { Descriptors, Device } from "./descriptors.ts";
import type { GuestMemory } from "./guest-memory.ts";
import type { MemoryTree } from "./memory-tree.ts";

/** A function that the guest calls. It throws a `GuestError` to fail; the guest gets the number. */
export type GuestCall = (...args: never[]) => void;

export interface GuestSystem {
  /** Memory of the guest. It can be used only after the interpreter is instantiated. */
  readonly memory: GuestMemory;
  readonly tree: MemoryTree;
  readonly descriptors: Descriptors;
  /** Files that are devices, by their path from the root, such as `.rpc`. */
  readonly devices: ReadonlyMap<string, Device>;
  readonly args: readonly string[];
  /** Called before the guest reads the time; may throw `GuestParked`. */
  beforeTime(): void;
  /** Blocks the thread for that time, in milliseconds. */
  sleep(ms: number): void;
}
