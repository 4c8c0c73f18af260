import { mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import {
  findPrlimit,
  hasLimits,
  nodeDataBytes,
  prlimitArguments,
  type MemoryMeasure,
} from "../../process/resource-limits.ts";
import { findCommand } from "../../process/resolve-command.ts";
import { bwrapCommand, insideEnvironment, programFolders, type BwrapFound } from "../bwrap/command.ts";
import { probeBwrap } from "../bwrap/probe.ts";
import type { CommandLine } from "./command-line.ts";
import { isInside } from "./inside.ts";
import type { RunSettings } from "./run-settings.ts";

/** The program to run, and the paths that it needs. */
export interface Containable {
  /** The tool's name, for messages. */
  readonly name: string;
  readonly line: CommandLine;
  /** Working folder. */
  readonly folder: string;
  /** Folder that relative paths must not leave, symbolic links resolved. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Further files and folders that the program reads. */
  readonly reads: readonly string[];
  readonly settings: RunSettings;
  /** Number of pipes in addition to the three standard ones. */
  readonly extraPipes: number;
  /**
   * True for a process that serves many calls. The system must then not limit its CPU time, because the limit would
   * count all calls together.
   */
  readonly isLasting?: boolean;
}

/** Arguments for `spawnChild`. */
export interface ContainedCommand extends CommandLine {
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly (() => number)[];
}

/**
 * Adds the tool's limits and isolation to a command line. Throws a `FailError` of kind `unavailable` if a required
 * isolation is missing. Omits limits that this platform does not support; `limitsRemark` reports them.
 */
export async function contain(what: Containable): Promise<ContainedCommand> {
  const { settings, env, line } = what;
  const { outputBytes: _ours, cpuMs, ...others } = settings.limits;
  const measure = measureFor(line.command);
  const limits = {
    ...others,
    ...(cpuMs !== undefined && what.isLasting !== true && { cpuMs }),
    ...(others.memoryBytes !== undefined && isNode(line.command) && { memoryBytes: nodeDataBytes(others.memoryBytes) }),
  };
  if (settings.isolation.mode === "bwrap") {
    const state = await probeBwrap(settings.isolation.program);
    if (state.found) return behindBwrap(what, state.found, { limits, measure });
    throw new FailError(
      fail(
        "unavailable",
        `Tool \`${what.name}\` requires isolation that this machine does not support. ${state.reason} Or ` +
          "set its isolation to `process`.",
        { retryable: false },
      ),
    );
  }
  const prlimit = hasLimits(limits) ? findPrlimit({ env }) : undefined;
  if (prlimit === undefined) return { ...line, env, files: [] };
  return { command: prlimit, args: [...prlimitArguments(limits, measure), line.command, ...line.args], env, files: [] };
}

/** Returns why some limits are not enforced on this machine; `undefined` if all are. */
export function limitsRemark(
  { limits: { outputBytes: _ours, ...limits }, isolation }: RunSettings,
  env: Readonly<Record<string, string>>,
): string | undefined {
  if (!hasLimits(limits)) return undefined;
  if (findPrlimit({ env }) === undefined) {
    return (
      "`limits` are not enforced on this machine, except `output` and the time of a call: they need " +
      "Linux with `prlimit` (package util-linux)"
    );
  }
  if (limits.processes === undefined || isolation.mode === "bwrap" || process.getuid?.() !== 0) return undefined;
  return (
    "`limits.procs` has no effect, since the hub runs as root; run it as another user, or isolate the " +
    'tool with `mode = "bwrap"`'
  );
}

function isNode(command: string): boolean {
  return command === process.execPath || /^node(?:\.exe)?$/i.test(basename(command));
}

// Returns the type of memory to limit. A runtime such as Node reserves gigabytes of address space, and an unknown
// program may start one, so their data is limited.
function measureFor(command: string): MemoryMeasure {
  return /^python(?:\d[\d.]*)?$/.test(basename(command)) ? "address-space" : "data";
}

function behindBwrap(
  what: Containable,
  found: BwrapFound,
  bounds: Pick<Parameters<typeof bwrapCommand>[1], "limits" | "measure">,
): ContainedCommand {
  const { line, folder, env, reads, settings, extraPipes } = what;
  const program = findCommand(line.command, { cwd: folder, env });
  const writable = settings.isolation.write.map((place) => writableFolder(what, place));
  const readable = [
    folder,
    ...reads,
    ...libraryFolders(env),
    ...settings.isolation.read.map((place) => resolve(folder, place)),
    ...programFolders(program),
    ...ownFolders(line),
  ];
  if (found.identity !== "namespace") assertForNobody(what, writable);
  const options = {
    command: program,
    args: line.args,
    cwd: folder,
    readable,
    writable,
    network: settings.isolation.network,
    extraPipes,
    ...bounds,
  };
  return { ...bwrapCommand(found, options), env: insideEnvironment(env) };
}

function libraryFolders({ PYTHONPATH = "", NODE_PATH = "" }: Readonly<Record<string, string>>): string[] {
  return [PYTHONPATH, NODE_PATH].flatMap((paths) => paths.split(delimiter)).filter((path) => isAbsolute(path));
}

/** Creates the folder if it is missing. A relative path must stay in the tools folder. */
function writableFolder({ name, folder, root }: Containable, place: string): string {
  const path = resolve(folder, place);
  try {
    mkdirSync(path, { recursive: true });
    const real = realpathSync(path);
    if (!isAbsolute(place) && !isInside(real, root)) throw new Error("it leads out of the tools folder");
    return path;
  } catch (error) {
    throw new FailError(
      fail("unavailable", `Tool \`${name}\` cannot be given \`${place}\` to write to. Correct \`isolation.write\`.`, {
        retryable: false,
        cause: error,
      }),
    );
  }
}

/** Returns the hub's own files in the command line: shims, and the TypeScript loader. */
function ownFolders({ args }: CommandLine): string[] {
  const home = packageFolder();
  const shims = args
    .filter((arg) => isAbsolute(arg) && isInside(arg, home) && SHIM.test(arg))
    .map((arg) => dirname(arg));
  if (!args.includes("--import")) return shims;
  return [...["dist", "package.json"].map((name) => join(home, name)), ...shims];
}

const SHIM = /[/\\]runtimes[/\\](?:execute|warm)[/\\][a-z]+\.(?:py|mjs)$/;

function packageFolder(): string {
  return dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
}

// Throws unless user `nobody` can read the tool's folder and write to the writable ones. The check is made before the
// start, because the interpreter's own message would not explain the cause.
function assertForNobody({ name, folder }: Containable, writable: readonly string[]): void {
  const closed = (path: string, bits: number) => (statSync(path).mode & bits) !== bits;
  const mayNotWrite = writable.some((path) => closed(path, 0o007))
    ? "write to the folders of `isolation.write`"
    : undefined;
  const problem = closed(folder, 0o005) ? "read its folder" : mayNotWrite;
  if (problem === undefined) return;
  throw new FailError(
    fail(
      "unavailable",
      `Tool \`${name}\` runs as user \`nobody\`, since the hub runs as root, and \`nobody\` may not ` +
        `${problem}. Give others the right to, or run the hub as another user.`,
      { retryable: false },
    ),
  );
}
