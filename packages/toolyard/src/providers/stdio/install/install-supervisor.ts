import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Child } from "../../../process/child.ts";
import type { AdoptedStart } from "./start-adoption.ts";
import { spawnSupervisedInstall } from "./supervised-install-process.ts";

/**
 * Message to a supervisor that is no longer needed. It is written to the supervisor's standard input after the job, and
 * the supervisor then exits.
 */
export const NOT_NEEDED = "not needed";

const FOLDER_MODE = 0o700;

/**
 * Lets the start of a server finish its download after this process has ended. The supervisor is a separate process,
 * which does nothing until its standard input ends without a message. Except on Windows, where a pipe has one reader,
 * it also holds the child's outputs, so that the child can still write.
 */
export class InstallSupervisor {
  readonly #child: Child;
  readonly #process: ChildProcess;

  private constructor(child: Child, supervisor: ChildProcess) {
    this.#child = child;
    this.#process = supervisor;
    child.spare(true);
    // If the supervisor itself has exited, no other process takes care of the child, so this process ends the child at
    // its own exit.
    supervisor.once("exit", () => child.spare(false));
  }

  /** Starts a supervisor. Returns `undefined` if no process can be started; the child then stays with this process. */
  static start(child: Child, start: Omit<AdoptedStart, "tree" | "bornAtMs">): InstallSupervisor | undefined {
    const { pid, marker, startedAt, bornAt } = child.tree;
    const bornAtMs = Date.now() - (performance.now() - bornAt);
    const outputs = process.platform === "win32" ? [] : [child.stdout, child.stderr];
    try {
      mkdirSync(dirname(start.files.lock), { recursive: true, mode: FOLDER_MODE });
      const supervisor = spawnSupervisedInstall(outputs);
      supervisor.on("error", () => {});
      if (supervisor.pid === undefined) return undefined;
      supervisor.stdin?.write(JSON.stringify({ ...start, tree: { pid, marker, startedAt }, bornAtMs }));
      return new InstallSupervisor(child, supervisor);
    } catch {
      return undefined;
    } finally {
      // Streams that were passed to another process must be read here explicitly.
      for (const output of outputs) output.resume();
    }
  }

  get isThere(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Hands the child over to the supervisor. */
  takeOver(): void {
    this.#child.handOver();
    this.#process.stdin?.end();
  }

  /** Releases the supervisor: the start is over, or this process has ended the child. */
  release(): void {
    this.#child.spare(false);
    this.#process.stdin?.end(`\n${NOT_NEEDED}`);
  }
}
