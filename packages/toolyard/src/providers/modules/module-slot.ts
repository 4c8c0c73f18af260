import type { FoundModule } from "./discover.ts";
import type { ModuleFingerprint } from "./module-fingerprint.ts";
import type { RunningModule } from "./running-module.ts";

/** A module file, and what became of it. */
export interface Slot {
  readonly found: FoundModule;
  readonly fingerprint: ModuleFingerprint;
  running?: RunningModule;
  problem?: string;
  /** The last import failed. */
  hasFailed?: true;
  loading?: ModuleLoad;
}

export interface ModuleLoad {
  readonly done: Promise<void>;
  /** On the clock of `performance.now()`: until when a listing waits for it. */
  readonly waitUntil: number;
  /** The files changed meanwhile. */
  again?: true;
}

/** Nothing came of it yet. */
export function isNew({ running, problem }: Slot): boolean {
  return running === undefined && problem === undefined;
}

/** It is being imported for the first time, and lists do not wait for it any more. */
export function isLate(slot: Slot): boolean {
  return slot.loading !== undefined && isNew(slot) && slot.loading.waitUntil <= performance.now();
}

export async function allOver(loading: readonly ModuleLoad[]): Promise<void> {
  await Promise.all(loading.map(({ done }) => done));
}
