/** One command that installs a package. */
export interface InstallCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface InstallWish {
  /** Key of the install. Equal installs have equal keys, in all hubs of this user. */
  readonly key: string;
  readonly command: InstallCommand;
  /** Time limit in milliseconds. */
  readonly maxMs: number;
  /** Folders of the download. If they grow, the install counts as active. */
  readonly folders: readonly string[];
}

export interface InstallEnd {
  readonly ok: boolean;
  /** Reason of the failure: `timeout`, `ended` if a user ended the install, or `exit` with a code. */
  readonly reason?: string;
  /** Last lines of the command's output. */
  readonly lines: readonly string[];
}

/** A running install. It continues even if no code waits for it. */
export interface RunningWish {
  readonly since: Date;
  /** Description of the current step. */
  readonly waitsFor: string;
  readonly pid: number | undefined;
  /** Settles when the install is over. Never rejects, and does not keep a process alive. */
  readonly over: Promise<unknown>;
  /** Waits for the end and keeps the process alive meanwhile. Rejects only with the signal's reason. */
  ended(signal: AbortSignal): Promise<InstallEnd>;
}

/**
 * Service that runs install commands, each in a separate process that outlives the hub. Per key, only one runs at a
 * time in all hubs of this user.
 */
export interface Installs {
  begin(wish: InstallWish): RunningWish;
  /** Returns how the last install with this key ended. */
  last(key: string): InstallEnd | undefined;
  /** Returns whether a hub of this user is running the install. */
  isRunning(key: string, maxMs: number): boolean;
}
