import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { findTrees, hasGroup, killTree, killTreesNow, type Tree } from "./tree.ts";

/** Maximum number of concurrent children of this process. */
const MAX_CHILDREN = 512;
/** Time that a child's leftover processes have to exit before they are killed. */
const LEFTOVER_GRACE_MS = 250;
/**
 * Minimum time between two searches for leftover processes. One search covers all children that have ended since the
 * last one.
 */
const SWEEP_EVERY_MS = 100;
const RETRY_AFTER_MS = 1000;

/**
 * Owns every child: counts them, refuses one above the limit, kills processes that a child left running, and kills all
 * children when this process exits, except those handed to another process. Use `CHILDREN`; other instances are for
 * tests.
 */
export class ChildRegistry {
  readonly #maxChildren: number;
  readonly #living = new Map<string, Tree>();
  /** Markers of children that do not die with this process, because another process ends them. */
  readonly #spared = new Set<string>();
  #reserved = 0;
  #ended: { readonly tree: Tree; readonly done: () => void }[] = [];
  #isSweepDue = false;
  #sweptAt = 0;
  readonly #onExit = () => this.#killAllNow();

  constructor({ maxChildren = MAX_CHILDREN }: { maxChildren?: number } = {}) {
    this.#maxChildren = maxChildren;
  }

  /** Number of children with a process tree that may still be running. */
  get count(): number {
    return this.#living.size + this.#reserved;
  }

  /**
   * Takes a place before a child is started. The caller must then call `add` or `cancel`. Throws a `FailError` of kind
   * `limited`.
   */
  reserve(): void {
    if (this.count >= this.#maxChildren) {
      throw new FailError(
        fail(
          "limited",
          `${this.#maxChildren} child processes are running already, which is the most allowed. ` +
            "Try again when one has ended.",
          {
            retryAfterMs: RETRY_AFTER_MS,
          },
        ),
      );
    }
    this.#reserved += 1;
  }

  cancel(): void {
    this.#reserved -= 1;
  }

  add(tree: Tree): void {
    this.#reserved -= 1;
    if (this.#living.size === 0) process.on("exit", this.#onExit);
    this.#living.set(tree.marker, tree);
  }

  /**
   * Called when the child has exited. The other processes of its group get a short time to exit, then they are killed.
   * Resolves when the whole tree has ended; the child then no longer counts.
   */
  async ended(tree: Tree): Promise<void> {
    if (hasGroup(tree.pid)) await this.#letGroupGo(tree);
    // Processes that left the group can only be found in the process table. The table is read once for all ended
    // children.
    if (process.platform === "linux") await this.#sweepLater(tree);
    this.remove(tree);
  }

  /** Sets whether a tree survives this process, because another process takes care of it. */
  spare(tree: Tree, isSpared: boolean): void {
    if (isSpared) this.#spared.add(tree.marker);
    else this.#spared.delete(tree.marker);
  }

  /** Removes a tree whose processes have all ended. */
  remove(tree: Tree): void {
    this.#living.delete(tree.marker);
    this.#spared.delete(tree.marker);
    if (this.#living.size === 0) process.off("exit", this.#onExit);
  }

  async #letGroupGo(tree: Tree): Promise<void> {
    const end = performance.now() + LEFTOVER_GRACE_MS;
    while (performance.now() < end && hasGroup(tree.pid))
      await new Promise((resolve) => setTimeout(resolve, GROUP_POLL_MS));
    if (hasGroup(tree.pid)) await killTree(tree, 0);
  }

  #sweepLater(tree: Tree): Promise<void> {
    return new Promise((done) => {
      this.#ended.push({ tree, done });
      if (this.#isSweepDue) return;
      this.#isSweepDue = true;
      setTimeout(() => void this.#sweep(), Math.max(0, this.#sweptAt + SWEEP_EVERY_MS - performance.now()));
    });
  }

  async #sweep(): Promise<void> {
    const ended = this.#ended;
    this.#ended = [];
    this.#isSweepDue = false;
    this.#sweptAt = performance.now();
    const isClean = findTrees(ended.map(({ tree }) => tree)).length === 0;
    if (!isClean) await Promise.all(ended.map(({ tree }) => killTree(tree, LEFTOVER_GRACE_MS)));
    for (const { done } of ended) done();
  }

  #killAllNow(): void {
    killTreesNow(Array.from(this.#living.values()).filter(({ marker }) => !this.#spared.has(marker)));
  }
}

const GROUP_POLL_MS = 10;

export const CHILDREN = new ChildRegistry();
