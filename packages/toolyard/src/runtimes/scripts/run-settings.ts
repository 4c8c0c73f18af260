import type { ResourceLimits } from "../../process/resource-limits.ts";

/** Limits of one tool. Without a member there is no limit, except for `outputBytes`. */
export interface ScriptLimits extends ResourceLimits {
  /** Limit of one call's output; absent: the provider's. */
  readonly outputBytes?: number;
}

/** The isolation of a script from the machine. */
export interface Isolation {
  /** `process`: a process of the hub's user, without isolation. `bwrap`: behind bubblewrap. */
  readonly mode: "process" | "bwrap";
  /** With `bwrap`: whether there is a network. */
  readonly network: boolean;
  /**
   * With `bwrap`: further files and folders that may be read, and folders that may be written; relative ones refer to
   * the tool's folder.
   */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Bubblewrap itself: a name on PATH or a full path. */
  readonly program: string;
}

/** How often a process is started. */
export interface RunMode {
  /** `spawn`: one per call. `warm`: a persistent interpreter, only for Python and Node. */
  readonly mode: "spawn" | "warm";
  /** With `warm`: interpreters of one tool at a time, one call each. */
  readonly workers: number;
  /** With `warm`: calls after which an interpreter is replaced. */
  readonly maxCalls: number;
  /** With `warm`: time without a call after which it ends. */
  readonly idleMs: number;
}

/** Complete run settings of a tool. */
export interface RunSettings {
  readonly limits: ScriptLimits;
  readonly isolation: Isolation;
  readonly run: RunMode;
}

/** The configured part of the run settings. */
export interface PartialRunSettings {
  readonly limits?: ScriptLimits;
  readonly isolation?: Partial<Isolation>;
  readonly run?: Partial<RunMode>;
}
