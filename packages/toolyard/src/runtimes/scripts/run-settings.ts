import type { ResourceLimits } from "../../process/resource-limits.ts";

/** Limits of one tool. An absent member means no limit, except for `outputBytes`. */
export interface ScriptLimits extends ResourceLimits {
  /** Maximum output of one call; absent: the provider's limit. */
  readonly outputBytes?: number;
}

/** The isolation of a script from the machine. */
export interface Isolation {
  /** `process`: a process of the hub's user, without isolation. `bwrap`: a process behind bubblewrap. */
  readonly mode: "process" | "bwrap";
  /** With `bwrap`: true if the network is available. */
  readonly network: boolean;
  /**
   * With `bwrap`: further files and folders that may be read, and folders that may be written. Relative paths start at
   * the tool's folder.
   */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Bubblewrap program: a name on PATH or a full path. */
  readonly program: string;
}

/** Rules for starting and replacing a tool's processes. */
export interface RunMode {
  /** `spawn`: one process per call. `warm`: a persistent interpreter, only for Python and Node. */
  readonly mode: "spawn" | "warm";
  /** With `warm`: maximum number of interpreters of one tool; each runs one call at a time. */
  readonly workers: number;
  /** With `warm`: number of calls after which an interpreter is replaced. */
  readonly maxCalls: number;
  /** With `warm`: time in milliseconds without a call after which an interpreter ends. */
  readonly idleMs: number;
}

/** Complete run settings of a tool. */
export interface RunSettings {
  readonly limits: ScriptLimits;
  readonly isolation: Isolation;
  readonly run: RunMode;
}

/** The configured part of the run settings; absent members have defaults. */
export interface PartialRunSettings {
  readonly limits?: ScriptLimits;
  readonly isolation?: Partial<Isolation>;
  readonly run?: Partial<RunMode>;
}
