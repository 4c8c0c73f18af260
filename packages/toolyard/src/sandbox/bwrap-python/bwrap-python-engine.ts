import { execFile } from "node:child_process";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { searchEnvironment } from "../../process/environment.ts";
import { realPython } from "../../process/interpreter.ts";
import type { SpawnOptions } from "../../process/child.ts";
import { bwrapCommand, programFolders } from "../../runtimes/bwrap/command.ts";
import { probeBwrap } from "../../runtimes/bwrap/probe.ts";
import { maxFrameBytesOf } from "../embedded-engine.ts";
import { HostedEngine } from "../hosted-engine.ts";
import { distFolder } from "../node-flags.ts";
import type { SandboxOptions } from "../options.ts";
import { ProcessRuns } from "../processes/process-runs.ts";

/** Address space that the interpreter and its library need, without the stacks of threads. */
const BASE_BYTES = 192 * 1024 ** 2;
/** Maximum number of threads of the code. It cannot start processes. */
const THREADS = 64;
const OPEN_FILES = 128;
/** Additional memory for folders and file metadata. */
const SCRATCH_SLACK_BYTES = 1024 ** 2;
const PROBE_TIMEOUT_MS = 5000;
/** Oldest Python minor version that the prelude supports. */
const OLDEST_MINOR = 11;

const PRELUDE = "/sandbox/prelude";
const DRIVER = "/sandbox/driver";
const WORK = "/work";

/**
 * Creates an engine that runs this machine's Python inside bubblewrap: full speed, with the packages installed for it.
 * Linux only; no JavaScript.
 */
export function createBwrapPythonEngine(options: SandboxOptions): HostedEngine {
  return new HostedEngine(options, {
    name: "bwrap-python",
    languages: ["python"],
    isolation:
      "native Python behind bubblewrap, without files, network and processes of the machine, system " +
      "calls filtered, limits enforced by the kernel",
    unavailable: () => reasonAgainst(options),
    start: async (_first, onSessions) =>
      new ProcessRuns({
        kind: {
          command: () => commandOf(options),
          channel: "pipe",
          maxFrameBytes: maxFrameBytesOf(options),
          scratch: [WORK, "/tmp", "/dev/shm"],
        },
        sessions: options.sessions,
        sessionIdleMs: options.sessionIdleMs,
        onSessions,
      }),
  });
}

async function reasonAgainst({ python }: SandboxOptions): Promise<string | undefined> {
  const { found, reason } = await probeBwrap();
  if (!found) return reason;
  if (found.prlimit === undefined)
    return "`prlimit` is not installed, without which memory has no limit. Install your system's package `util-linux`.";
  return probePython(python);
}

async function commandOf({
  python,
  limits,
}: SandboxOptions): Promise<Pick<SpawnOptions, "command" | "args" | "env" | "files">> {
  const { found, reason } = await probeBwrap();
  if (!found) throw new Error(reason);
  const program = await realPython(python, { env: searchEnvironment() });
  const scratchBytes = limits.fileBytes + SCRATCH_SLACK_BYTES;
  const line = bwrapCommand(found, {
    command: program,
    // Packages in the user's own folder are excluded; those of the system are available.
    args: ["-I", "-B", "-X", "utf8", `${DRIVER}/main.py`, DRIVER, PRELUDE],
    cwd: WORK,
    readable: programFolders(program),
    readableAs: [
      [join(distFolder(), "sandbox", "python", "prelude"), PRELUDE],
      [join(distFolder(), "sandbox", "bwrap-python"), DRIVER],
    ],
    writable: [],
    scratch: [[WORK, scratchBytes]],
    tmpBytes: scratchBytes,
    network: false,
    processes: false,
    limits: {
      memoryBytes: limits.memoryBytes + BASE_BYTES,
      processes: THREADS,
      openFiles: OPEN_FILES,
      fileBytes: scratchBytes,
    },
    measure: "address-space",
    extraPipes: 1,
  });
  return { ...line, env: { LANG: "C.UTF-8", PATH: "/usr/bin", HOME: "/tmp" } };
}

const answers = new Map<string, Promise<string | undefined>>();
const MAX_CACHED = 16;

/** Returns why this Python cannot be used; undefined if it can. The result is cached. */
async function probePython(python: string): Promise<string | undefined> {
  const known = answers.get(python);
  if (known) return known;
  if (answers.size >= MAX_CACHED) answers.clear();
  const answer = askPython(python);
  answers.set(python, answer);
  // A failure is not cached, so that a later installation is detected.
  if ((await answer) !== undefined) answers.delete(python);
  return answer;
}

async function askPython(python: string): Promise<string | undefined> {
  const env = searchEnvironment();
  let program: string;
  try {
    program = await realPython(python, { env });
  } catch (error) {
    return messageOf(error);
  }
  return new Promise((resolve) => {
    execFile(
      program,
      ["-I", "-S", "-c", "import sys, resource; print(*sys.version_info[:2])"],
      { env, timeout: PROBE_TIMEOUT_MS },
      (error, stdout) => {
        const [major = 0, minor = 0] = stdout.trim().split(" ").map(Number);
        if (error)
          resolve("`python3` does not run. Install your system's package `python3`, or name another with `python`.");
        else
          resolve(
            major === 3 && minor >= OLDEST_MINOR
              ? undefined
              : `Python ${major}.${minor} is too old: 3.${OLDEST_MINOR} or newer is needed. ` +
                  "Name another with `python`.",
          );
      },
    );
  });
}
