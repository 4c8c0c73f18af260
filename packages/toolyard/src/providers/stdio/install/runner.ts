import { join } from "node:path";

export interface CommandWords {
  readonly command: string;
  readonly args: readonly string[];
}

/** What is known of the downloads of one command. */
export interface InstallPlan {
  /** `npx @scope/server`, for people. */
  readonly package: string;
  /** Only downloads. Absent: the command could not be taken apart, so its own start downloads. */
  readonly install?: CommandWords;
  /** Starts without downloading, or says that something is missing. Absent: the command as it is configured. */
  readonly start?: CommandWords;
  /** What such a start writes on stderr where something is missing; without it, downloading comes first. */
  readonly missing?: RegExp;
  /** What it writes where the registry has no answer for it. */
  readonly refused?: RegExp;
  /** Downloading comes first unless that was done within this time. Absent: only once something is missing. */
  readonly freshMs?: number;
  /** Its caches; what grows there is a sign of life. The first is there as long as the cache was not cleared. */
  readonly folders: readonly string[];
  /** Present while another process downloads there, by the program's own convention. */
  readonly locks: readonly string[];
  /** What a start writes on stderr that finds a broken download. */
  readonly broken?: BrokenSigns;
  /** `SCRATCH` among the arguments is a folder with these files and no others. */
  readonly scratchFiles?: Readonly<Record<string, string>>;
}

export interface BrokenSigns {
  readonly says: RegExp;
  /** Parent folders, by their last name, of a folder that may be removed and comes back by downloading. */
  readonly parents: readonly string[];
  /** What else has to be removed, or it would be made anew as it is. `named` are the folders that the text names. */
  also?(text: string, named: readonly string[]): readonly string[];
  /** What is broken where a start failed without a word. */
  silent?(): readonly string[];
}

/** A command that some program was found in. */
export interface GivenCommand {
  /** `npx`, `uv tool run` */
  readonly name: string;
  readonly head: readonly string[];
  /** What follows it. */
  readonly words: readonly string[];
}

export interface RunnerEnvironment {
  readonly env: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/** Knows how one program is told to download, and to start without. */
export type Runner = (given: GivenCommand, place: RunnerEnvironment) => InstallPlan;

export const SCRATCH = "{scratch}";
export const DAY_MS = 24 * 60 * 60 * 1000;

export function commandOf(head: readonly string[], ...args: readonly string[]): CommandWords {
  return { command: head[0]!, args: [...head.slice(1), ...args] };
}

/** A folder in the user's own, unless a variable names another. */
export function homeFolder({ env, platform }: RunnerEnvironment, unix: string, windows: string): string {
  const local = env["LOCALAPPDATA"];
  if (platform === "win32" && local !== undefined) return join(local, windows);
  return join(env["HOME"] ?? env["USERPROFILE"] ?? ".", unix);
}

/** Nothing more is known than that it may download. */
export function unknownPlan(name: string, folders: readonly string[]): InstallPlan {
  return { package: name, folders, locks: [] };
}
