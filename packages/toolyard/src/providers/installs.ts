/** One command that installs something. */
export interface InstallCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface InstallWish {
  /** The same wish has the same key, in every hub of this user. */
  readonly key: string;
  readonly command: InstallCommand;
  /** The longest that it may take. */
  readonly maxMs: number;
  /** What grows there is a sign of life. */
  readonly folders: readonly string[];
}

export interface InstallEnd {
  readonly ok: boolean;
  /** Why it failed: `timeout`, `ended` by somebody, or `exit` with a code. */
  readonly reason?: string;
  /** The last lines that the command wrote. */
  readonly lines: readonly string[];
}

/** An install under way. It goes on when whoever waits gives up. */
export interface RunningWish {
  readonly since: Date;
  /** What happens at this moment. */
  readonly waitsFor: string;
  readonly pid: number | undefined;
  /** Never rejects, and keeps no process alive that waits for it. */
  readonly over: Promise<unknown>;
  /** Keeps the process alive meanwhile. Rejects with the signal's reason only. */
  ended(signal: AbortSignal): Promise<InstallEnd>;
}

/**
 * Runs commands that install something, each in a process of its own that outlives the hub, one at a time for each key
 * among all hubs of this user.
 */
export interface Installs {
  begin(wish: InstallWish): RunningWish;
  /** How the last one with this key ended. */
  last(key: string): InstallEnd | undefined;
  /** Whether a hub of this user is at it. */
  isRunning(key: string, maxMs: number): boolean;
}
