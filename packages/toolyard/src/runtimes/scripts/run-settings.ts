import type { ResourceLimits } from "../../process/resource-limits.ts";

/** Bounds of one tool. A member that is absent is not bounded, `outputBytes` aside. */
export interface ScriptLimits extends ResourceLimits {
  /** All that one call writes; absent, the provider's. */
  readonly outputBytes?: number;
}

/** What stands between a script and the machine. */
export interface Isolation {
  /** `process`: a process of the hub's user, and no wall. `bwrap`: behind bubblewrap. */
  readonly mode: "process" | "bwrap";
  /** With `bwrap`: whether there is a network. */
  readonly network: boolean;
  /**
   * With `bwrap`: further files and folders that may be read, and folders that may be written; relative ones start at
   * the tool's folder.
   */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Bubblewrap itself: a name on PATH or a full path. */
  readonly program: string;
}

/** How often a process is started. */
export interface RunMode {
  /** `spawn`: one for each call. `warm`: an interpreter that stays, Python and Node only. */
  readonly mode: "spawn" | "warm";
  /** With `warm`: interpreters of one tool at a time, one call each. */
  readonly workers: number;
  /** With `warm`: calls after which an interpreter is replaced. */
  readonly maxCalls: number;
  /** With `warm`: time without a call after which it ends. */
  readonly idleMs: number;
}

/** How a tool is run, complete. */
export interface RunSettings {
  readonly limits: ScriptLimits;
  readonly isolation: Isolation;
  readonly run: RunMode;
}

/** What somebody wrote of it. */
export interface PartialRunSettings {
  readonly limits?: ScriptLimits;
  readonly isolation?: Partial<Isolation>;
  readonly run?: Partial<RunMode>;
}
