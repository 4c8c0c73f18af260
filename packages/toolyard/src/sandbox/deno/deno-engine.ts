import { execFile } from "node:child_process";
import { messageOf } from "../../core/errors.ts";
import { searchEnvironment } from "../../process/environment.ts";
import { findPrlimit, prlimitArguments } from "../../process/resource-limits.ts";
import { findCommand } from "../../process/resolve-command.ts";
import type { SpawnOptions } from "../../process/child.ts";
import { maxFrameBytesOf } from "../embedded-engine.ts";
import { HostedEngine, type RunHost } from "../hosted-engine.ts";
import type { SandboxOptions } from "../options.ts";
import { ProcessRuns } from "../processes/process-runs.ts";
import { BOOTSTRAP, readBundle, type Bundle } from "./bundle.ts";
import { SourceThread } from "./source-thread.ts";

/** Memory of V8 and Deno themselves; they need about 700 MiB to start. */
const BASE_BYTES = 1024 ** 3;
const PROBE_TIMEOUT_MS = 5000;
const OLDEST_MAJOR = 2;
const MIB = 1024 ** 2;

/**
 * Options of Deno: no permission is granted or can be requested, and no module is loaded from the disk or the network.
 */
const FLAGS = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-remote",
  "--no-npm",
  "--no-lock",
  "--no-config",
  "--no-check",
  "--no-code-cache",
  "--cached-only",
];
const ENVIRONMENT = {
  TZ: "UTC",
  NO_COLOR: "1",
  DENO_DIR: "/dev/null/none",
  DENO_NO_UPDATE_CHECK: "1",
  DENO_NO_PACKAGE_JSON: "1",
};

/**
 * Creates an engine for JavaScript and TypeScript in V8, at full speed, in a Deno process without permissions. No
 * Python.
 */
export function createDenoEngine(options: SandboxOptions): HostedEngine {
  return new HostedEngine(options, {
    name: "deno",
    languages: ["javascript", "typescript"],
    isolation: "a separate realm in a Deno process without permissions",
    unavailable: () => reasonAgainst(options.deno),
    start: async (_first, onSessions) => startRuns(options, onSessions),
  });
}

function startRuns(options: SandboxOptions, onSessions: () => void): RunHost {
  const thread = new SourceThread();
  const bundle = readBundle();
  const runs = new ProcessRuns({
    kind: {
      command: async () => commandOf(options),
      channel: "standard",
      maxFrameBytes: maxFrameBytesOf(options),
      greeting: { head: bundle satisfies Bundle, body: new Uint8Array(0) },
      scratch: [],
      countsMemory: true,
      prepare: async (job, signal) => ({ source: await thread.prepare(job, signal) }),
    },
    sessions: options.sessions,
    sessionIdleMs: options.sessionIdleMs,
    onSessions,
    onKill: () => thread.close(),
  });
  return runs;
}

function commandOf({ deno, limits }: SandboxOptions): Pick<SpawnOptions, "command" | "args" | "env" | "files"> {
  const place = { env: searchEnvironment() };
  const program = findCommand(deno, place);
  const heap = `--v8-flags=--max-old-space-size=${Math.ceil(limits.memoryBytes / MIB)}`;
  const args = [...FLAGS, heap, `data:text/javascript;base64,${Buffer.from(BOOTSTRAP).toString("base64")}`];
  const prlimit = findPrlimit(place);
  const setpriv = process.platform === "linux" ? find("setpriv", place) : undefined;
  const line = [
    // The process ends together with the hub, even if the hub is killed while the code is running.
    ...(setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"]),
    ...(prlimit === undefined
      ? []
      : [prlimit, ...prlimitArguments({ memoryBytes: limits.memoryBytes + BASE_BYTES }, "data")]),
    program,
    ...args,
  ];
  return { command: line[0]!, args: line.slice(1), env: ENVIRONMENT };
}

function find(name: string, place: Parameters<typeof findCommand>[1]): string | undefined {
  try {
    return findCommand(name, place);
  } catch {
    return undefined;
  }
}

const answers = new Map<string, Promise<string | undefined>>();
const MAX_CACHED = 16;

/**
 * Returns why Deno cannot be used; undefined if it can. A failure is not cached, so that a later installation is found.
 */
async function reasonAgainst(deno: string): Promise<string | undefined> {
  const known = answers.get(deno);
  if (known) return known;
  if (answers.size >= MAX_CACHED) answers.clear();
  const answer = ask(deno);
  answers.set(deno, answer);
  if ((await answer) !== undefined) answers.delete(deno);
  return answer;
}

function ask(deno: string): Promise<string | undefined> {
  const env = searchEnvironment();
  const program = find(deno, { env });
  if (program === undefined)
    return Promise.resolve(
      "Deno is not installed. Install it so that `deno` is on PATH, or name the program with `deno` in [sandbox].",
    );
  return new Promise((resolve) => {
    execFile(program, ["--version"], { env, timeout: PROBE_TIMEOUT_MS }, (error, stdout) => {
      const version = /^deno (\d+)\.(\d+)/u.exec(stdout);
      if (error || !version)
        resolve(
          `Deno does not run here: ${error ? messageOf(error) : "it does not say its version"}. ` +
            "Name another program with `deno` in [sandbox].",
        );
      else
        resolve(
          Number(version[1]) >= OLDEST_MAJOR
            ? undefined
            : `Deno ${version[1]}.${version[2]} is too old: ${OLDEST_MAJOR}.0 or newer is needed.`,
        );
    });
  });
}
