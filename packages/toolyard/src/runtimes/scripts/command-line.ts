import { closeSync, openSync, readSync } from "node:fs";
import { basename, extname } from "node:path";
import { FailError } from "../../core/errors.ts";
import { realPython } from "../../process/interpreter.ts";
import { findCommand, type CommandPlace } from "../../process/resolve-command.ts";
import { NODE_HELPER_ARGS } from "../calling/helpers.ts";
import { typescriptNodeArgs } from "../typescript/node-args.ts";
import { findVenv } from "./venv.ts";

/** A program and the arguments before the script's own. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** The folder of a script, and the tools folder up to which virtual environments are searched. */
export interface ScriptPlace extends CommandPlace {
  readonly root?: string;
  /** Interpreter for Python files. @default that of a `.venv` nearby, else the one on PATH */
  readonly python?: string;
}

type Runtime = "python" | "node" | "typescript" | "sh";

const RUNTIMES: Readonly<Record<string, Runtime>> = {
  ".py": "python",
  ".js": "node",
  ".mjs": "node",
  ".cjs": "node",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".sh": "sh",
};

/** Patterns of first lines (`#!`) that only name the default interpreter. */
const ORDINARY: Readonly<Record<Runtime, RegExp>> = {
  python: /^python3?$/,
  node: /^node$/,
  typescript: /^node$/,
  sh: /^sh$/,
};

/** Names of Python. The first one that is found is used. */
export const PYTHON_COMMANDS = process.platform === "win32" ? ["python3", "python", "py"] : ["python3", "python"];

/**
 * Returns how a script is run. If its first line `#!` names a special program (`bash`, `uv run`), that program runs it.
 * Else the suffix decides, with the interpreter of a `.venv` nearby. A file with neither is run as a program. Throws a
 * `FailError` of kind `unavailable` if the runtime is missing.
 */
export async function scriptCommandLine(script: string, place: ScriptPlace): Promise<CommandLine> {
  const runtime = RUNTIMES[extname(script).toLowerCase()];
  const shebang = readShebang(script);
  if (shebang && !(runtime && isOrdinary(shebang, runtime)))
    return { command: shebang.command, args: [...shebang.args, script] };
  if (runtime === undefined) return { command: script, args: [] };
  const { command, args } = await runtimeCommand(runtime, place);
  return { command, args: [...args, script] };
}

/** Returns the command line for files of one suffix, without a script. Throws like `scriptCommandLine`. */
export async function suffixCommandLine(suffix: string, place: ScriptPlace): Promise<CommandLine> {
  const runtime = RUNTIMES[suffix];
  if (runtime === undefined) throw new TypeError(`No runtime for ${suffix}.`);
  return runtimeCommand(runtime, place);
}

/**
 * Returns the file of `runtimes/warm/` that runs a script in a persistent interpreter; `undefined` for other kinds of
 * scripts.
 */
export function warmShim(script: string): "warm.py" | "warm.mjs" | undefined {
  const runtime = RUNTIMES[extname(script).toLowerCase()];
  if (runtime === "python") return "warm.py";
  return runtime === "node" || runtime === "typescript" ? "warm.mjs" : undefined;
}

/** Returns the command line of `scriptCommandLine` without the script itself. */
export async function interpreterCommandLine(script: string, place: ScriptPlace): Promise<CommandLine> {
  const { command, args } = await scriptCommandLine(script, place);
  return { command, args: args.slice(0, -1) };
}

async function runtimeCommand(runtime: Runtime, place: ScriptPlace): Promise<CommandLine> {
  if (runtime === "python") return { command: await findPython(place), args: [] };
  if (runtime === "sh") return { command: "sh", args: [] };
  return { command: process.execPath, args: runtime === "typescript" ? typescriptNodeArgs() : NODE_HELPER_ARGS };
}

async function findPython(place: ScriptPlace): Promise<string> {
  if (place.python !== undefined) return place.python;
  const venv = place.cwd === undefined || place.root === undefined ? undefined : findVenv(place.cwd, place.root);
  if (venv) return venv.python;
  let first: unknown;
  for (const command of PYTHON_COMMANDS) {
    try {
      return await realPython(command, place);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

/** Returns whether a script is run by the default Python, and not by a program in its first line, such as `uv run`. */
export function isOrdinaryPython(script: string): boolean {
  if (RUNTIMES[extname(script).toLowerCase()] !== "python") return false;
  const shebang = readShebang(script);
  return !shebang || isOrdinary(shebang, "python");
}

/**
 * Returns the commands of which one must exist on this machine to run the script. Empty for a script that the hub's own
 * Node runs.
 */
export function neededCommands(
  script: string,
  at?: { readonly path: string; readonly realRoot: string },
): readonly string[] {
  const shebang = readShebang(script);
  const runtime = RUNTIMES[extname(script).toLowerCase()];
  if (shebang && !(runtime && isOrdinary(shebang, runtime))) return [shebang.command];
  if (runtime === "node" || runtime === "typescript") return [];
  if (runtime === "python") return at && findVenv(at.path, at.realRoot) ? [] : PYTHON_COMMANDS;
  return [runtime ?? script];
}

/** Returns why none of the commands can be run, or `undefined` if one can. Reads only PATH and starts nothing. */
export function missingCommands(commands: readonly string[], place: CommandPlace): string | undefined {
  let reason: string | undefined;
  for (const command of commands) {
    try {
      findCommand(command, place);
      return undefined;
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      reason ??= error.failure.message;
    }
  }
  return reason;
}

function isOrdinary({ command, args }: CommandLine, runtime: Runtime): boolean {
  const isGeneral = !command.includes("/") || /^\/(?:usr\/(?:local\/)?)?bin\//.test(command);
  return isGeneral && args.length === 0 && ORDINARY[runtime].test(basename(command));
}

const MAX_SHEBANG_BYTES = 256;

/** Returns the program and arguments in the first line of a script, without `env` and its `-S`. */
function readShebang(script: string): CommandLine | undefined {
  const line = firstLine(script);
  if (!line?.startsWith("#!")) return undefined;
  let words = line.slice(2).trim().split(/\s+/);
  if (basename(words[0] ?? "") === "env") words = words.slice(words[1] === "-S" ? 2 : 1);
  const [command, ...args] = words;
  return command === undefined || command === "" ? undefined : { command, args };
}

function firstLine(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    const bytes = Buffer.alloc(MAX_SHEBANG_BYTES);
    const length = readSync(descriptor, bytes, 0, MAX_SHEBANG_BYTES, 0);
    return bytes.toString("utf8", 0, length).split("\n", 1)[0]!.replace(/\r$/, "");
  } catch {
    // The error is ignored here: the run of the script reports the failure.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
