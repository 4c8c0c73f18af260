import { join } from "node:path";

export interface CommandWords {
  readonly command: string;
  readonly args: readonly string[];
}

/** The download plan of one command. */
export interface InstallPlan {
  /** `npx @scope/server`, for users. */
  readonly package: string;
  /** Only downloads. Absent: the command could not be parsed, so its own start downloads. */
  readonly install?: CommandWords;
  /** Starts without downloading, or reports that something is missing. Absent: the command as configured. */
  readonly start?: CommandWords;
  /** Matches the stderr output of such a start if something is missing; without it, downloading comes first. */
  readonly missing?: RegExp;
  /** Matches its output if the registry has no answer. */
  readonly refused?: RegExp;
  /** Downloading comes first unless it was done within this time. Absent: only if something is missing. */
  readonly freshMs?: number;
  /**
   * True if a cached version exists. It is then started without a long wait for a newer version. Absent: only a start
   * shows it.
   */
  readonly isCached?: () => boolean;
  /** Its caches; growth there counts as activity. The first exists as long as the cache was not cleared. */
  readonly folders: readonly string[];
  /** Present while another process downloads there, by the program's own convention. */
  readonly locks: readonly string[];
  /** Signs in the stderr output of a start with a broken download. */
  readonly broken?: BrokenSigns;
  /** `SCRATCH` among the arguments is a folder with only these files. */
  readonly scratchFiles?: Readonly<Record<string, string>>;
}

export interface BrokenSigns {
  readonly says: RegExp;
  /** Parent folders, by their last name, of a folder that may be removed and is downloaded again. */
  readonly parents: readonly string[];
  /**
   * Returns further folders to remove, which would otherwise restore the fault. `named` are the folders in the text.
   */
  also?(text: string, named: readonly string[]): readonly string[];
  /** Returns the broken folders if a start failed without output. */
  silent?(): readonly string[];
}

/** A command with a known program. */
export interface GivenCommand {
  /** `npx`, `uv tool run` */
  readonly name: string;
  readonly head: readonly string[];
  /** The words after it. */
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

/** Returns a folder in the user's home, unless a variable names another. */
export function homeFolder({ env, platform }: RunnerEnvironment, unix: string, windows: string): string {
  const local = env["LOCALAPPDATA"];
  if (platform === "win32" && local !== undefined) return join(local, windows);
  return join(env["HOME"] ?? env["USERPROFILE"] ?? ".", unix);
}

/** Returns a plan with only the fact that it may download. */
export function unknownPlan(name: string, folders: readonly string[]): InstallPlan {
  return { package: name, folders, locks: [] };
}
