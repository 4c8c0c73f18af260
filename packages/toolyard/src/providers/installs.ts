/** One command that installs something. */
export interface InstallCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface InstallWish {
  /** Equal requests have equal keys, in every hub of this user. */
  readonly key: string;
  readonly command: InstallCommand;
  /** Longest duration, in milliseconds. */
  readonly maxMs: number;
  /** Growth of these folders counts as activity. */
  readonly folders: readonly string[];
}

export interface InstallEnd {
  readonly ok: boolean;
  /** Reason of the failure: `timeout`, `ended` by a user, or `exit` with a code. */
  readonly reason?: string;
  /** The last lines that the command wrote. */
  readonly lines: readonly string[];
}

/** A running install. It continues when the waiting code stops waiting. */
export interface RunningWish {
  readonly since: Date;
  /** The current step. */
  readonly waitsFor: string;
  readonly pid: number | undefined;
  /** Never rejects, and keeps no waiting process alive. */
  readonly over: Promise<unknown>;
  /** Keeps the process alive while waiting. Rejects only with the signal's reason. */
  ended(signal: AbortSignal): Promise<InstallEnd>;
}

/**
 * Runs install commands, each in a separate process that outlives the hub, one at a time per key among all hubs of this
 * user.
 */
export interface Installs {
  begin(wish: InstallWish): RunningWish;
  /** Returns how the last install with this key ended. */
  last(key: string): InstallEnd | undefined;
  /** Returns whether a hub of this user is running it. */
  isRunning(key: string, maxMs: number): boolean;
}
