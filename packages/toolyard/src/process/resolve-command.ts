import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { basename, posix, win32 } from "node:path";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { cmdCommandLine } from "./cmd-quoting.ts";
import { findShimTarget, MAX_SHIM_BYTES, type ShimTarget } from "./node-shims.ts";

export interface CommandPlace {
  /** Folder from which relative commands are resolved. @default the current working folder */
  readonly cwd?: string;
  /** Environment of the child. Its PATH, and PATHEXT on Windows, are searched. */
  readonly env: Readonly<Record<string, string>>;
}

/** Program and arguments for the operating system. `verbatim`: the arguments are already quoted, on Windows only. */
export interface ResolvedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly verbatim: boolean;
}

/** Access to the file system; a test replaces it to simulate another machine. */
export interface CommandProbe {
  readonly platform: NodeJS.Platform;
  find(path: string): "executable" | "not-executable" | "folder" | "absent";
  /** Returns the text of a small file, to recognize files written by npm. */
  read(path: string): string | undefined;
}

const LOCAL_PROBE: CommandProbe = { platform: process.platform, find: probeFile, read: readSmallFile };

/**
 * Finds the program of `command` as a shell does: a path is used unchanged, a bare name is looked up in PATH. On
 * Windows, PATHEXT completes the name. npm, npx and the programs of npm packages are started by Node directly; other
 * `.cmd` and `.bat` files run through `cmd.exe`. Throws a `FailError` of kind `unavailable` that names the attempted
 * programs, or the character that a batch file cannot receive safely.
 */
export function resolveCommand(
  command: string,
  args: readonly string[],
  { probe = LOCAL_PROBE, ...place }: CommandPlace & { readonly probe?: CommandProbe },
): ResolvedCommand {
  const file = findCommand(command, place, probe);
  if (probe.platform !== "win32" || !isBatchFile(file)) return { file, args, verbatim: false };
  const target = shimTarget(file, place, probe);
  if (target) return nodeCommand(target, args, { place, probe });
  const line = cmdCommandLine(file, args);
  return {
    file: variable(place.env, "ComSpec", probe.platform) ?? "cmd.exe",
    args: ["/d", "/s", "/c", `"${line}"`],
    verbatim: true,
  };
}

/** Way in which `cmd.exe` changes the arguments of a command; see `argumentReader`. */
export type ArgumentReader = "batch" | "npm";

/**
 * Returns how `cmd.exe` changes the arguments of a command: `batch` if it executes or replaces some characters, `npm`
 * if a line break ends them. Returns `undefined` if `cmd.exe` is not involved, or if the program is not found.
 */
export function argumentReader(
  command: string,
  { probe = LOCAL_PROBE, ...place }: CommandPlace & { readonly probe?: CommandProbe },
): ArgumentReader | undefined {
  if (probe.platform !== "win32") return undefined;
  if (/^cmd(?:\.exe)?$/i.test(win32.basename(command))) return "batch";
  let file: string;
  try {
    file = findCommand(command, place, probe);
  } catch {
    // The program was not found. The error is not reported here, because starting the command reports it.
    return undefined;
  }
  if (!isBatchFile(file)) return undefined;
  const target = shimTarget(file, place, probe);
  return target ? (target.isNpm ? "npm" : undefined) : "batch";
}

function isBatchFile(file: string): boolean {
  return /\.(?:cmd|bat)$/i.test(file);
}

function shimTarget(file: string, { env }: CommandPlace, probe: CommandProbe): ShimTarget | undefined {
  return findShimTarget(file, {
    variable: (name) => variable(env, name, probe.platform),
    isFile: (path) => probe.find(path) === "executable",
    read: (path) => probe.read(path),
  });
}

function nodeCommand(
  { folder, nodeArgs, script, isNpm }: ShimTarget,
  args: readonly string[],
  { place, probe }: { readonly place: CommandPlace; readonly probe: CommandProbe },
): ResolvedCommand {
  if (isNpm && args.some((argument) => /[\r\n]/.test(argument)))
    throw commandFailure("An argument contains a line break, at which `cmd.exe` ends the arguments of npm. Remove it.");
  return { file: nodeProgram(folder, place, probe), args: [...nodeArgs, script, ...args], verbatim: false };
}

function nodeProgram(folder: string, place: CommandPlace, probe: CommandProbe): string {
  const own = win32.join(folder, "node.exe");
  if (probe.find(own) === "executable") return own;
  try {
    const found = findCommand("node", place, probe);
    return isBatchFile(found) ? process.execPath : found;
  } catch {
    return process.execPath;
  }
}

/** Returns the full path of the program that `command` names. Throws the errors of `resolveCommand`. */
export function findCommand(
  command: string,
  { cwd = process.cwd(), env }: CommandPlace,
  probe: CommandProbe = LOCAL_PROBE,
): string {
  assertNamed(command);
  const { path, separators } = probe.platform === "win32" ? WINDOWS : POSIX;
  const hasFolder = separators.test(command);
  const folders = hasFolder ? [cwd] : searchPath(env, cwd, probe.platform);
  let blocked: "not-executable" | "folder" | undefined;
  for (const folder of folders) {
    for (const ending of endings(command, env, probe.platform)) {
      const candidate = path.resolve(cwd, folder, command + ending);
      const found = probe.find(candidate);
      if (found === "executable") return candidate;
      if (found !== "absent") blocked ??= found;
    }
  }
  throw blocked === undefined ? notFound(command, hasFolder, folders.length) : notRunnable(command, blocked);
}

function assertNamed(command: string): void {
  if (command === "" || command.includes("\0"))
    throw commandFailure("The command is empty or holds a NUL byte. Name a program.");
}

function searchPath(env: Readonly<Record<string, string>>, cwd: string, platform: NodeJS.Platform): readonly string[] {
  const value = variable(env, "PATH", platform) ?? (platform === "win32" ? "" : DEFAULT_PATH);
  const folders = value
    .split(platform === "win32" ? ";" : ":")
    .map((folder) => (platform === "win32" ? folder.replaceAll('"', "") : folder) || ".");
  // On Windows, the current folder is searched first.
  return platform === "win32" ? [cwd, ...folders] : folders;
}

const WINDOWS = { path: win32, separators: /[/\\]/ };
const POSIX = { path: posix, separators: /\// };
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

function endings(command: string, env: Readonly<Record<string, string>>, platform: NodeJS.Platform): readonly string[] {
  if (platform !== "win32") return [""];
  const known = (variable(env, "PATHEXT", platform) ?? ".COM;.EXE;.BAT;.CMD")
    .toLowerCase()
    .split(";")
    .filter((ending) => ending !== "");
  const hasKnownEnding = known.some((ending) => command.toLowerCase().endsWith(ending));
  return hasKnownEnding ? ["", ...known] : known;
}

function variable(env: Readonly<Record<string, string>>, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== "win32") return env[name];
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

function probeFile(path: string): "executable" | "not-executable" | "folder" | "absent" {
  // A folder that this user cannot read contains no usable program, so it is skipped.
  const isFolder = folderOrFile(path);
  if (isFolder === undefined) return "absent";
  if (isFolder) return "folder";
  try {
    accessSync(path, constants.X_OK);
    return "executable";
  } catch {
    return "not-executable";
  }
}

function readSmallFile(path: string): string | undefined {
  try {
    return statSync(path).size > MAX_SHIM_BYTES ? undefined : readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function folderOrFile(path: string): boolean | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory();
  } catch {
    return undefined;
  }
}

// Names only the last segment of the path, since callers must not learn the folders of this machine.
function notRunnable(command: string, blocked: "not-executable" | "folder"): FailError {
  const name = basename(command);
  const problem =
    blocked === "folder"
      ? `Command \`${name}\` is a folder. Name the program inside it.`
      : `Command \`${name}\` was found but may not be run. Make it executable (\`chmod +x\`).`;
  return commandFailure(problem, command);
}

function notFound(command: string, hasFolder: boolean, folders: number): FailError {
  const name = basename(command);
  const problem = hasFolder
    ? `Command \`${name}\` was not found at the path given. Check the path; ` +
      "a relative one starts at the working folder."
    : `Command \`${name}\` was not found in the ${folders} folders of PATH. ` +
      "Install it, or give its full path as the command.";
  return commandFailure(problem, command);
}

function commandFailure(message: string, command?: string): FailError {
  return new FailError(
    fail("unavailable", message, {
      retryable: false,
      ...(command === undefined ? {} : { cause: new Error(`command: ${command}`) }),
    }),
  );
}
