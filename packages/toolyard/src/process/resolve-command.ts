import { accessSync, constants, statSync } from "node:fs";
import { basename, posix, win32 } from "node:path";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { cmdCommandLine } from "./cmd-quoting.ts";

export interface CommandPlace {
  /** Folder that relative commands start from; the current one when absent. */
  readonly cwd?: string;
  /** Environment of the child; its PATH (and PATHEXT on Windows) decide. */
  readonly env: Readonly<Record<string, string>>;
}

/** Arguments for the operating system. `verbatim`: already quoted, on Windows only. */
export interface ResolvedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly verbatim: boolean;
}

/** Looks at files; a test puts another machine here. */
export interface CommandProbe {
  readonly platform: NodeJS.Platform;
  find(path: string): "executable" | "not-executable" | "folder" | "absent";
}

const LOCAL_PROBE: CommandProbe = { platform: process.platform, find: probeFile };

/**
 * Finds the program of `command` as a shell would: a path as it is, a bare name along PATH. On Windows PATHEXT
 * completes the name, and `.cmd` and `.bat` files run through `cmd.exe` with quoted arguments. Throws a `FailError` of
 * kind `unavailable` that names what was tried.
 */
export function resolveCommand(
  command: string,
  args: readonly string[],
  { probe = LOCAL_PROBE, ...place }: CommandPlace & { readonly probe?: CommandProbe },
): ResolvedCommand {
  const file = findCommand(command, place, probe);
  if (probe.platform !== "win32" || !/\.(?:cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = cmdCommandLine(file, args);
  return {
    file: variable(place.env, "ComSpec", probe.platform) ?? "cmd.exe",
    args: ["/d", "/s", "/c", `"${line}"`],
    verbatim: true,
  };
}

/** The full path of the program that `command` names. Throws as `resolveCommand` does. */
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
  // Windows looks into the current folder first.
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
  // A folder that this user may not look into has nothing for it.
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

function folderOrFile(path: string): boolean | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory();
  } catch {
    return undefined;
  }
}

// Only the last step is named: where things lie on this machine is no caller's business.
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
