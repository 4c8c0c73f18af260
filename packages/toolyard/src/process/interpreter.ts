import { execFile } from "node:child_process";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { findCommand, type CommandPlace } from "./resolve-command.ts";

const ASK_TIMEOUT_MS = 5000;
const MAX_CACHED = 64;
/** Files by which version managers choose an interpreter for a folder. */
const VERSION_FILES = [".python-version", ".tool-versions"];

const answers = new Map<string, Promise<string>>();

/**
 * Returns the program for a Python command. A version manager's shim is a shell script that takes a tenth of a second,
 * so it is asked once for its interpreter. Any other program is returned as found. Throws a `FailError` if none is
 * found.
 */
export async function realPython(command: string, place: CommandPlace): Promise<string> {
  const file = findCommand(command, place);
  if (!isShim(file)) return file;
  const cwd = place.cwd ?? process.cwd();
  const key = JSON.stringify([file, place.env["PYENV_VERSION"], versionFile(cwd)]);
  let answer = answers.get(key);
  if (!answer) {
    if (answers.size >= MAX_CACHED) answers.clear();
    answer = ask(file, { ...place, cwd });
    answers.set(key, answer);
  }
  const real = await answer;
  if (statSync(real, { throwIfNoEntry: false })) return real;
  answers.delete(key);
  return file;
}

function isShim(file: string): boolean {
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

// Path and time of the nearest file that steers the shim, so that another folder or an edit asks anew.
function versionFile(folder: string): string {
  for (const name of VERSION_FILES) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats) return `${path}:${stats.mtimeMs}`;
  }
  const parent = dirname(folder);
  return parent === folder ? "" : versionFile(parent);
}

// A shim that fails is used as it is: its own message is the best explanation.
function ask(file: string, { cwd, env }: CommandPlace): Promise<string> {
  return new Promise((resolve) => {
    const options = {
      env,
      timeout: ASK_TIMEOUT_MS,
      windowsHide: true,
      encoding: "utf8" as const,
      ...(cwd === undefined ? {} : { cwd }),
    };
    execFile(file, ["-I", "-c", "import sys; print(sys.executable)"], options, (error, stdout) => {
      const answer = stdout.trim();
      resolve(error || answer === "" ? file : answer);
    });
  });
}
