import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Duplex, Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { codeOf, FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { within } from "../core/timing/wait.ts";
import { CHILDREN, type ChildRegistry } from "./child-registry.ts";
import { readProcess } from "./process-table.ts";
import { resolveCommand, type ResolvedCommand } from "./resolve-command.ts";
import { killTree, MARKER_VARIABLE, type Tree } from "./tree.ts";

export interface SpawnOptions {
  /**
   * Program to start: a path (a relative one is resolved from `cwd`), or a name that is looked up in PATH. Never a
   * shell line.
   */
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder. @default the working folder of this process */
  readonly cwd?: string;
  /** The whole environment of the child; see `childEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** Number of pipes in addition to the three standard ones, starting at descriptor 3. @default 0 */
  readonly extraPipes?: number;
  /**
   * Functions that open files for this child alone. The child inherits them on the descriptors after the pipes; this
   * process closes its copies once the child runs.
   */
  readonly files?: readonly (() => number)[];
  /** Registry that owns the child. @default CHILDREN */
  readonly registry?: ChildRegistry;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running child in its own process group. Read `stdout` and `stderr`, or it may block on a full pipe. */
export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The extra pipes; `pipes[0]` is descriptor 3 of the child. */
  readonly pipes: readonly Duplex[];
  /** Exit code and signal; `undefined` while the child runs. */
  readonly exit: Exit | undefined;
  /**
   * Resolves when the child itself has exited. Its output may still be in the pipes, and its own children may run a
   * moment longer.
   */
  readonly exited: Promise<Exit>;
  /**
   * Resolves when the child has exited and all its pipes are closed. Grandchildren that hold a pipe delay this until
   * they are killed.
   */
  readonly closed: Promise<void>;
  /** Resolves when the child and all its descendants have ended. */
  readonly gone: Promise<void>;
  /**
   * Resolves when the child has exited and its output has been read. The output counts as read if the pipes are closed,
   * or if `graceMs` milliseconds have passed and the pipes are empty. Does not keep the process running.
   */
  drained(graceMs: number): Promise<void>;
  /**
   * Sends SIGTERM, waits up to `graceMs`, then sends SIGKILL to the whole tree, including processes that left its
   * group. Resolves when no process of the tree is left.
   */
  kill(graceMs: number): Promise<void>;
  /**
   * Closes the child's input. Waits up to `ownMs`, or until `cut` resolves, for the child to exit and for its
   * descendants to close its pipes. Then kills the rest like `kill(graceMs)`.
   */
  end(ownMs: number, graceMs: number, cut?: Promise<void>): Promise<void>;
  /** Identifies the child and its descendants. */
  readonly tree: Tree;
  /** Sets whether the child survives this process, because another process takes care of it. */
  spare(isSpared: boolean): void;
  /** Hands the child over to another process: it survives this process and no longer keeps it running. */
  handOver(): void;
}

/**
 * Starts a program in its own process group, without a shell. Rejects with a `FailError`: `unavailable` if it cannot be
 * started (the message names the tried programs and gives advice), `limited` if too many children run, `too_large` if
 * its arguments do not fit. Children that still run when this process exits are killed.
 */
export async function spawnChild(options: SpawnOptions): Promise<Child> {
  const { command, args, cwd, env, extraPipes = 0, registry = CHILDREN } = options;
  if (cwd !== undefined) assertFolder(cwd);
  const resolved = resolveCommand(command, args, { env, ...(cwd === undefined ? {} : { cwd }) });
  const marker = nextMarker();
  registry.reserve();
  let handle: ChildProcess;
  try {
    handle = await start(resolved, { ...options, env: { ...env, [MARKER_VARIABLE]: marker } });
  } catch (error) {
    registry.cancel();
    // The folder is checked again, because the system reports a removed working folder as a missing program.
    if (cwd !== undefined) assertFolder(cwd);
    throw startFailure(command, error);
  }
  const tree: Tree = {
    pid: handle.pid!,
    marker,
    startedAt: readProcess(handle.pid!)?.startedAt ?? 0,
    bornAt: performance.now(),
  };
  registry.add(tree);
  return new SpawnedChild(handle, tree, { registry, extraPipes });
}

class SpawnedChild implements Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pipes: readonly Duplex[];
  readonly exited: Promise<Exit>;
  readonly closed: Promise<void>;
  readonly gone: Promise<void>;
  exit: Exit | undefined;
  readonly #handle: ChildProcess;
  readonly #registry: ChildRegistry;
  readonly tree: Tree;
  #isGone = false;
  #isClosed = false;
  #isHandedOver = false;
  #killing: Promise<void> | undefined;

  constructor(
    handle: ChildProcess,
    tree: Tree,
    { registry, extraPipes }: { readonly registry: ChildRegistry; readonly extraPipes: number },
  ) {
    this.pid = tree.pid;
    this.#handle = handle;
    this.#registry = registry;
    this.tree = tree;
    this.stdin = handle.stdin!;
    this.stdout = handle.stdout!;
    this.stderr = handle.stderr!;
    this.pipes = handle.stdio.slice(3, 3 + extraPipes) as unknown as Duplex[];
    // Errors of the pipes are ignored: a child that exits without reading breaks them, and `exited` reports how it
    // ended.
    for (const stream of [this.stdin, this.stdout, this.stderr, ...this.pipes]) stream.on("error", () => {});
    this.exited = new Promise((resolve) => {
      handle.once("exit", (code, signal) => {
        this.exit = { code, signal };
        resolve(this.exit);
      });
    });
    this.closed = new Promise((resolve) => {
      handle.once("close", () => {
        this.#isClosed = true;
        resolve();
      });
    });
    this.gone = this.exited.then(() => this.#settle());
  }

  async drained(graceMs: number): Promise<void> {
    await this.exited;
    await within(this.closed, graceMs, { keepsAlive: false });
    // Waits until some turns of the event loop bring no data, because after a busy period, timers run before pending
    // pipe data is read.
    let [seen, quiet] = [this.#bytesRead, 0];
    for (let turn = 0; !this.#isClosed && quiet < QUIET_TURNS && turn < MAX_TURNS; turn += 1) {
      await nextTurn();
      quiet = this.#bytesRead === seen ? quiet + 1 : 0;
      seen = this.#bytesRead;
    }
  }

  get #bytesRead(): number {
    const sockets = [this.stdout, this.stderr, ...this.pipes] as readonly { readonly bytesRead?: number }[];
    return sockets.reduce((sum, { bytesRead = 0 }) => sum + bytesRead, 0);
  }

  kill(graceMs: number): Promise<void> {
    return this.#killBy(() => killTree(this.tree, graceMs));
  }

  end(ownMs: number, graceMs: number, cut?: Promise<void>): Promise<void> {
    return this.#killBy(async () => {
      this.stdin.end();
      // Waits for the pipes too: a wrapper may exit before the server that it started, and the server still holds the
      // pipes.
      await within(cut ? Promise.race([this.closed, cut]) : this.closed, ownMs);
      await killTree(this.tree, graceMs);
    });
  }

  async #killBy(kill: () => Promise<void>): Promise<void> {
    if (this.#isGone) return;
    this.#killing = bothOf(this.#killing, kill());
    await this.#killing;
    // The wait is limited, because a process in an uninterruptible wait survives SIGKILL.
    await within(this.gone, MAX_REAP_MS);
  }

  spare(isSpared: boolean): void {
    this.#registry.spare(this.tree, isSpared);
  }

  handOver(): void {
    this.#isHandedOver = true;
    this.#registry.remove(this.tree);
    for (const stream of [this.stdin, this.stdout, this.stderr, ...this.pipes]) stream.destroy();
    this.#handle.unref();
  }

  async #settle(): Promise<void> {
    // If the tree is being killed, no further search is needed, because killing searches the whole tree.
    if (this.#killing) await this.#killing.then(() => this.#registry.remove(this.tree));
    else if (!this.#isHandedOver) await this.#registry.ended(this.tree);
    this.#isGone = true;
  }
}

async function bothOf(first: Promise<void> | undefined, second: Promise<void>): Promise<void> {
  await first;
  await second;
}

/**
 * Number of turns of the event loop without data after which the pipes count as empty. Two turns are needed, because
 * reading may already be over in the current turn.
 */
const QUIET_TURNS = 2;
/**
 * Maximum number of turns of the event loop in which output is read. The limit allows far more output than pipes can
 * hold, and ends the wait if a process writes without end.
 */
const MAX_TURNS = 64;

/** Maximum time from the last SIGKILL until the system reports that the child has exited. */
const MAX_REAP_MS = 1000;

async function start(resolved: ResolvedCommand, options: SpawnOptions): Promise<ChildProcess> {
  const opened: number[] = [];
  try {
    for (const open of options.files ?? []) opened.push(open());
    return await spawned(resolved, options, opened);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function spawned(
  resolved: ResolvedCommand,
  { cwd, env, extraPipes = 0 }: SpawnOptions,
  descriptors: readonly number[],
): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const handle = spawn(resolved.file, resolved.args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      stdio: [...Array.from({ length: 3 + extraPipes }, () => "pipe" as const), ...descriptors],
      shell: false,
      // Not detached on Windows, because that would open a console window. Trees are found by parentage there.
      detached: process.platform !== "win32",
      windowsHide: true,
      windowsVerbatimArguments: resolved.verbatim,
    });
    handle.once("error", reject);
    handle.once("spawn", () => {
      handle.off("error", reject);
      // Later errors only report signals that could not be sent, so they are ignored.
      handle.on("error", () => {});
      resolve(handle);
    });
  });
}

// Returns the marker of the next child. A nested hub keeps the outer hub's marker as a prefix, so that the outer hub
// finds these children too.
function nextMarker(): string {
  const outer = process.env[MARKER_VARIABLE];
  return outer === undefined ? randomUUID() : `${outer.slice(-MAX_OUTER_MARKER_CHARS)}/${randomUUID()}`;
}

const MAX_OUTER_MARKER_CHARS = 400;

function assertFolder(cwd: string): void {
  const stats = statSync(cwd, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return;
  const what = stats ? "is not a folder" : "does not exist";
  throw new FailError(
    fail("unavailable", `The working folder \`${basename(cwd)}\` ${what}. Create it, or correct \`cwd\`.`, {
      retryable: false,
      cause: new Error(`cwd: ${cwd}`),
    }),
  );
}

function startFailure(command: string, error: unknown): FailError {
  const name = basename(command);
  const code = codeOf(error);
  if (code === "E2BIG") {
    return new FailError(
      fail(
        "too_large",
        `The arguments or variables for \`${name}\` are more than this system takes. Send large values on stdin.`,
        { cause: error },
      ),
    );
  }
  const [advice, retryable] = ADVICE[code ?? ""] ?? [
    `Run it by hand to see why${code === undefined ? "" : ` (${code})`}.`,
    false,
  ];
  return new FailError(
    fail("unavailable", `Command \`${name}\` could not be started. ${advice}`, { retryable, cause: error }),
  );
}

const ADVICE: Readonly<Record<string, readonly [advice: string, retryable: boolean]>> = {
  ENOENT: ["It, or the interpreter in its first line, does not exist.", false],
  EACCES: ["It may not be run: make it executable, and check the rights of its interpreter.", false],
  EPERM: ["This user may not run it.", false],
  ENOTDIR: ["A step of its path is not a folder.", false],
  ENOEXEC: ["It is not a program of this machine; a script needs a first line such as `#!/bin/sh`.", false],
  EAGAIN: ["This user has too many processes; try again later.", true],
  ENOMEM: ["The machine is out of memory; try again later.", true],
  EMFILE: ["Too many files are open; try again later.", true],
  ENFILE: ["Too many files are open; try again later.", true],
  ERR_INVALID_ARG_VALUE: ["An argument or variable holds a NUL byte.", false],
};
