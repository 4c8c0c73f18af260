import type { FoundModule } from "./discover.ts";
import type { ModuleFingerprint } from "./module-fingerprint.ts";
import type { RunningModule } from "./running-module.ts";

/** A module file, and its state. */
export interface Slot {
  readonly found: FoundModule;
  readonly fingerprint: ModuleFingerprint;
  running?: RunningModule;
  problem?: string;
  /** Present if the last import failed. */
  hasFailed?: true;
  loading?: ModuleLoad;
}

export interface ModuleLoad {
  readonly done: Promise<void>;
  /** Time until which a listing waits for the import, on the clock of `performance.now()`. */
  readonly waitUntil: number;
  /** Present if the files have changed during the import. */
  again?: true;
}

/** Returns whether the module has neither been loaded nor failed yet. */
export function isNew({ running, problem }: Slot): boolean {
  return running === undefined && problem === undefined;
}

/** Returns whether the module is being imported for the first time and lists no longer wait for it. */
export function isLate(slot: Slot): boolean {
  return slot.loading !== undefined && isNew(slot) && slot.loading.waitUntil <= performance.now();
}

export async function allOver(loading: readonly ModuleLoad[]): Promise<void> {
  await Promise.all(loading.map(({ done }) => done));
}
