import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import { searchEnvironment } from "../../process/environment.ts";
import { findPrlimit } from "../../process/resource-limits.ts";
import { findCommand } from "../../process/resolve-command.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import { bwrapCommand, type BwrapFound } from "./command.ts";

/** The result of the check, or the reason why bubblewrap cannot be used, with advice. */
export type BwrapState =
  | { readonly found: BwrapFound; readonly reason?: undefined }
  | { readonly found?: undefined; readonly reason: string };

const PROBE_TIMEOUT_MS = 5000;
/** Time in milliseconds after which a machine without bubblewrap is checked again. */
const RETRY_AFTER_MS = 30_000;
const MAX_CACHED = 16;

const states = new Map<string, { readonly state: Promise<BwrapState>; readonly at: number }>();

/**
 * Checks whether bubblewrap works on this machine by running it: a container or the kernel may forbid namespaces. The
 * result is cached; a failure is checked again after 30 s. `program`: a name on PATH or a full path.
 */
export async function probeBwrap(program = "bwrap"): Promise<BwrapState> {
  const known = states.get(program);
  if (known && ((await known.state).found || performance.now() - known.at < RETRY_AFTER_MS)) return known.state;
  if (states.size >= MAX_CACHED) states.clear();
  const state = probe(program);
  states.set(program, { state, at: performance.now() });
  return state;
}

async function probe(program: string): Promise<BwrapState> {
  if (process.platform !== "linux") return { reason: "Bubblewrap works on Linux only. Run the hub there." };
  const file = find(program);
  if (file === undefined)
    return { reason: "Bubblewrap (`bwrap`) is not installed. Install your system's package `bubblewrap`." };
  const prlimit = findPrlimit({ env: searchEnvironment() });
  const isRoot = process.getuid?.() === 0;
  const setpriv = isRoot ? find("setpriv") : "";
  // Without `setpriv`, bubblewrap cannot be used, because the kernel gives root its rights even behind bubblewrap.
  if (setpriv === undefined)
    return {
      reason:
        "The hub runs as root and `setpriv` is not installed. " +
        "Install your system's package `util-linux`, or run the hub as another user.",
    };
  const identities = isRoot ? (["inside", "outside"] as const) : (["namespace"] as const);
  const candidates = identities.map((identity): BwrapFound => ({ file, identity, setpriv, prlimit }));
  let problem = "";
  for (const found of candidates) {
    const answer = await attempt(found);
    if (answer === undefined) return { found };
    problem ||= answer;
  }
  return {
    reason: `Bubblewrap is installed and does not work here: ${problem}. Allow user namespaces on this machine.`,
  };
}

/** Returns why a contained program does not run, or `undefined` if it does. */
function attempt(found: BwrapFound): Promise<string | undefined> {
  const { command, args, files } = bwrapCommand(found, TRIAL);
  const descriptors = files.map((open) => open());
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "pipe", ...descriptors],
    env: searchEnvironment(),
    timeout: PROBE_TIMEOUT_MS,
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  const stderr = new StderrTail();
  child.stdio[2]!.on("data", (chunk: Buffer) => stderr.push(chunk));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(messageOf(error)));
    child.once("close", (code) =>
      resolve(code === 0 ? undefined : (stderr.lines()[0] ?? "it ended without a message").replace(/^bwrap: /, "")),
    );
  });
}

const TRIAL = {
  command: "/usr/bin/env",
  args: ["true"],
  cwd: "/tmp",
  readable: [],
  writable: [],
  network: false,
  limits: {},
  measure: "data",
  extraPipes: 0,
} as const;

function find(command: string): string | undefined {
  try {
    return findCommand(command, { env: searchEnvironment() });
  } catch {
    return undefined;
  }
}
