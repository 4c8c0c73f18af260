import { join } from "node:path";

export interface CommandWords {
  readonly command: string;
  readonly args: readonly string[];
}

/** Plan for a command: how its packages are downloaded, and how it is started without a download. */
export interface InstallPlan {
  /** Name of the download for users, such as `npx @scope/server`. */
  readonly package: string;
  /** Command that only downloads. Absent: the command could not be parsed, so its own start downloads. */
  readonly install?: CommandWords;
  /**
   * Command that starts without a download, or reports that a package is missing. Absent: the command as configured.
   */
  readonly start?: CommandWords;
  /**
   * Matches the stderr output of a start without a download if a package is missing. Absent: a download always precedes
   * the start.
   */
  readonly missing?: RegExp;
  /** Matches the output of the download if the registry does not answer. */
  readonly refused?: RegExp;
  /**
   * Time in milliseconds after a download during which no new one precedes the start. Absent: downloads only if a
   * package is missing.
   */
  readonly freshMs?: number;
  /**
   * Returns whether a cached version exists. It is then started after a short wait for a newer version. Absent: only an
   * attempted start shows whether a version is cached.
   */
  readonly isCached?: () => boolean;
  /** Cache folders, whose growth counts as activity. The first one exists as long as the cache was not cleared. */
  readonly folders: readonly string[];
  /** Files that exist while another process downloads, by the program's own convention. */
  readonly locks: readonly string[];
  /** Signs of a broken download in the stderr output of a start. */
  readonly broken?: BrokenSigns;
  /** Files in the folder that replaces `SCRATCH` in the arguments. */
  readonly scratchFiles?: Readonly<Record<string, string>>;
}

export interface BrokenSigns {
  readonly says: RegExp;
  /** Names of parent folders. A folder directly inside one of them may be removed, because it is downloaded again. */
  readonly parents: readonly string[];
  /**
   * Returns further folders that must be removed, because the program would restore the fault from them. `named`: the
   * folders in the text.
   */
  also?(text: string, named: readonly string[]): readonly string[];
  /** Returns the broken folders if a start failed without output. */
  silent?(): readonly string[];
}

/** A command whose program is known. */
export interface GivenCommand {
  /** Program with its leading words, such as `npx` or `uv tool run`. */
  readonly name: string;
  readonly head: readonly string[];
  /** Words after the name. */
  readonly words: readonly string[];
}

export interface RunnerEnvironment {
  readonly env: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/** Returns how one program downloads, and how it starts without downloading. */
export type Runner = (given: GivenCommand, place: RunnerEnvironment) => InstallPlan;

export const SCRATCH = "{scratch}";
export const DAY_MS = 24 * 60 * 60 * 1000;

export function commandOf(head: readonly string[], ...args: readonly string[]): CommandWords {
  return { command: head[0]!, args: [...head.slice(1), ...args] };
}

/** Returns a folder in the user's home, unless an environment variable names another. */
export function homeFolder({ env, platform }: RunnerEnvironment, unix: string, windows: string): string {
  const local = env["LOCALAPPDATA"];
  if (platform === "win32" && local !== undefined) return join(local, windows);
  return join(env["HOME"] ?? env["USERPROFILE"] ?? ".", unix);
}

/** Returns a plan for a command that may download in an unknown way. */
export function unknownPlan(name: string, folders: readonly string[]): InstallPlan {
  return { package: name, folders, locks: [] };
}
