import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Child } from "../../../process/child.ts";
import type { AdoptedStart } from "./start-adoption.ts";
import { spawnSupervisedInstall } from "./supervised-install-process.ts";

/** Follows the job on the standard input of a keeper that is not needed any more. */
export const NOT_NEEDED = "not needed";

const FOLDER_MODE = 0o700;

/**
 * Looks after a start that downloads by itself, however this process ends: a process of its own, which does nothing
 * until its standard input ends without a word. It has the ends of the child's outputs, too, so that nothing that the
 * child writes fails meanwhile; on Windows, whose pipes have one reader, it has not.
 */
export class InstallSupervisor {
  readonly #child: Child;
  readonly #process: ChildProcess;

  private constructor(child: Child, supervisor: ChildProcess) {
    this.#child = child;
    this.#process = supervisor;
    child.spare(true);
    // Should it end by itself, there is nobody to leave the child to.
    supervisor.once("exit", () => child.spare(false));
  }

  /** Absent where no process can be started, which leaves the child to this one. */
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
      // What is passed on is read no more from here, unless it is asked for.
      for (const output of outputs) output.resume();
    }
  }

  get isThere(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The child is its own from now on. */
  takeOver(): void {
    this.#child.handOver();
    this.#process.stdin?.end();
  }

  /** The start is over, or ended from here. */
  release(): void {
    this.#child.spare(false);
    this.#process.stdin?.end(`\n${NOT_NEEDED}`);
  }
}
