import { execFile } from "node:child_process";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { findCommand, resolveCommand, type CommandPlace } from "./resolve-command.ts";

const ASK = "import sys; print(sys.executable)";
const ASK_TIMEOUT_MS = 5000;
const MAX_CACHED = 64;
/** Files by which version managers choose an interpreter for a folder. */
const VERSION_FILES = [".python-version", ".tool-versions"];

const answers = new Map<string, Promise<string>>();

/**
 * Returns the program for a Python command. A version manager's shim is a shell script that takes a tenth of a second,
 * so it is run once to find its interpreter. Any other program is returned as found. Throws a `FailError` if none is
 * found.
 */
export async function realPython(command: string, place: CommandPlace): Promise<string> {
  const file = findCommand(command, place);
  if (!isShim(file) && !isStoreAlias(file)) return file;
  const cwd = place.cwd ?? process.cwd();
  const key = JSON.stringify([file, place.env["PYENV_VERSION"], versionFile(cwd)]);
  let answer = answers.get(key);
  if (!answer) {
    if (answers.size >= MAX_CACHED) answers.clear();
    answer = ask(file, { ...place, cwd });
    answers.set(key, answer);
  }
  const real = await answer;
  if (real === file && isStoreAlias(file)) {
    answers.delete(key);
    throw noPython();
  }
  if (statSync(real, { throwIfNoEntry: false })) return real;
  answers.delete(key);
  return file;
}

/**
 * Windows has a `python3.exe` in this folder on every machine. Without an installed Python, it prints an advertisement
 * for the Microsoft Store and exits with an error.
 */
export function isStoreAlias(file: string): boolean {
  return /[\\/]microsoft[\\/]windowsapps[\\/]python[\d.]*\.exe$/i.test(file);
}

function noPython(): FailError {
  const message =
    "Python is not installed: the `python3` on PATH is only the alias of the Microsoft Store. Install Python from " +
    "python.org, or with `winget install Python.Python.3.12`.";
  return new FailError(fail("unavailable", message, { retryable: false }));
}

/** Returns whether a program may be a shim: a script with a first line `#!`, or a batch file on Windows. */
function isShim(file: string): boolean {
  if (/\.(?:bat|cmd)$/i.test(file)) return true;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const start = Buffer.alloc(2);
    return readSync(descriptor, start, 0, 2, 0) === 2 && start.toString("latin1") === "#!";
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

// Path and modification time of the nearest version file: in another folder, or after an edit, the shim is run again.
function versionFile(folder: string): string {
  for (const name of VERSION_FILES) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats) return `${path}:${stats.mtimeMs}`;
  }
  const parent = dirname(folder);
  return parent === folder ? "" : versionFile(parent);
}

// If the shim fails, returns the shim itself, because its own error message explains the problem best.
function ask(file: string, { cwd, env }: CommandPlace): Promise<string> {
  return new Promise((resolve) => {
    const options = {
      env,
      timeout: ASK_TIMEOUT_MS,
      windowsHide: true,
      encoding: "utf8" as const,
      ...(cwd === undefined ? {} : { cwd }),
    };
    const resolved = resolveCommand(file, ["-I", "-c", ASK], { env, ...(cwd !== undefined && { cwd }) });
    execFile(
      resolved.file,
      [...resolved.args],
      { ...options, windowsVerbatimArguments: resolved.verbatim },
      (error, stdout) => {
        const answer = stdout.trim();
        resolve(error || answer === "" ? file : answer);
      },
    );
  });
}
