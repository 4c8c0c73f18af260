import { existsSync, readdirSync } from "node:fs";
import { posix, win32 } from "node:path";
import type { EnvironmentVariables } from "../core/environment-variables.ts";
import { installerVariables, NETWORK_VARIABLES } from "./environment.ts";

/**
 * Returns the variables of a process that matter to the servers of a hub: PATH, proxies, certificates, and the settings
 * of package managers without logins.
 */
export function serverVariables(environment: EnvironmentVariables): Readonly<Record<string, string>> {
  const names = ["PATH", ...NETWORK_VARIABLES, ...installerVariables({ withLogins: false }, environment)];
  const path = pathOf(environment);
  const found = names.flatMap((name) => {
    const value = name === "PATH" ? path : environment[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

export interface EnrichOptions {
  /** True: the joined PATH lists the folders of the other environment first. @default false */
  readonly prefersOther?: boolean;
  readonly platform?: NodeJS.Platform;
}

/**
 * Returns the changes that add the contents of another environment: folders of PATH, and variables that are not set.
 * Nothing is removed, and variables that are already set do not change.
 */
export function enrichment(
  own: EnvironmentVariables,
  other: EnvironmentVariables,
  { prefersOther = false, platform = process.platform }: EnrichOptions = {},
): Readonly<Record<string, string>> {
  const { PATH: otherPath = "", ...variables } = other;
  const changes: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined && (own[name] ?? "") === "") changes[name] = value;
  const ownPath = pathOf(own, platform) ?? "";
  const joined = joinPaths(ownPath, otherPath, { prefersOther, platform });
  if (joined !== ownPath) changes[pathName(own, platform)] = joined;
  return changes;
}

/** Joins two values of PATH. Returns `own` unchanged if it contains all folders of `other`. */
function joinPaths(own: string, other: string, { prefersOther, platform }: Required<EnrichOptions>): string {
  const delimiter = platform === "win32" ? ";" : ":";
  const [mine, theirs] = [own, other].map((path) => path.split(delimiter).filter((folder) => folder !== ""));
  if (theirs!.every((folder) => mine!.includes(folder))) return own;
  const all = prefersOther ? [...theirs!, ...mine!] : [...mine!, ...theirs!];
  return [...new Set(all)].join(delimiter);
}

/** Returns the name of the PATH variable in this environment, because Windows writes it as `Path`. */
function pathName(environment: EnvironmentVariables, platform: NodeJS.Platform): string {
  if (platform !== "win32") return "PATH";
  return Object.keys(environment).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
}

function pathOf(environment: EnvironmentVariables, platform: NodeJS.Platform = process.platform): string | undefined {
  return environment[pathName(environment, platform)];
}

export interface UsualFoldersOptions {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly variables: EnvironmentVariables;
  /** Folder of this process's Node. */
  readonly nodeFolder: string;
}

/** Folders that npm and npx prepend to PATH for their own children. */
const OF_NPM = /[\\/](?:_npx|node_modules[\\/]\.bin|node-gyp-bin)(?:[\\/]|$)/;

/**
 * Returns a PATH for programs that a desktop client starts: the folders of the user's PATH, the folder of this
 * process's Node, and the usual folders of package managers if they exist.
 */
export function usablePath({ home, platform, variables, nodeFolder }: UsualFoldersOptions): string {
  const delimiter = platform === "win32" ? ";" : ":";
  const { isAbsolute } = platform === "win32" ? win32 : posix;
  const own = (pathOf(variables, platform) ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !OF_NPM.test(folder));
  const usual = usualFolders(home, platform, variables).filter((folder) => existsSync(folder));
  return [...new Set([...own, nodeFolder, ...usual])].join(delimiter);
}

/** Returns the folders of Homebrew, nvm, Volta, asdf, mise, fnm, uv, pipx, Bun, Deno, Cargo and the system. */
function usualFolders(home: string, platform: NodeJS.Platform, variables: EnvironmentVariables): readonly string[] {
  if (platform === "win32") {
    const { APPDATA, LOCALAPPDATA, ProgramFiles = "C:\\Program Files" } = variables;
    const local = LOCALAPPDATA ?? win32.join(home, "AppData", "Local");
    return [
      win32.join(ProgramFiles, "nodejs"),
      win32.join(APPDATA ?? win32.join(home, "AppData", "Roaming"), "npm"),
      win32.join(local, "Volta", "bin"),
      win32.join(home, ".local", "bin"),
      win32.join(home, ".bun", "bin"),
      win32.join(home, ".deno", "bin"),
    ];
  }
  const fnm = platform === "darwin" ? "Library/Application Support/fnm" : ".local/share/fnm";
  return [
    posix.join(home, ".local/bin"),
    posix.join(variables["VOLTA_HOME"] ?? posix.join(home, ".volta"), "bin"),
    posix.join(variables["ASDF_DATA_DIR"] ?? posix.join(home, ".asdf"), "shims"),
    posix.join(home, ".local/share/mise/shims"),
    ...newestNode(posix.join(variables["NVM_DIR"] ?? posix.join(home, ".nvm"), "versions/node"), "bin"),
    ...newestNode(posix.join(variables["FNM_DIR"] ?? posix.join(home, fnm), "node-versions"), "installation/bin"),
    posix.join(home, ".bun/bin"),
    posix.join(home, ".deno/bin"),
    posix.join(home, ".cargo/bin"),
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
  ];
}

/** Returns the folder of the newest Node version; nvm and fnm keep one folder for each version. */
function newestNode(folder: string, rest: string): readonly string[] {
  try {
    const versions = readdirSync(folder).filter((name) => /^v?\d+\./.test(name));
    const [newest] = versions.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
    return newest === undefined ? [] : [posix.join(folder, newest, rest)];
  } catch {
    return [];
  }
}

/** Returns the PATH of a program that the desktop starts without a shell. */
export function desktopPath(platform: NodeJS.Platform, variables: EnvironmentVariables): string {
  if (platform === "win32") return pathOf(variables, platform) ?? "";
  return platform === "darwin" ? "/usr/bin:/bin:/usr/sbin:/sbin" : "/usr/local/bin:/usr/bin:/bin";
}
