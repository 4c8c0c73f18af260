import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { findTrees, hasGroup, killTree, killTreesNow, type Tree } from "./tree.ts";

/** Children that may live at once in this process, whoever started them. */
const MAX_CHILDREN = 512;
/** Time that processes left behind by an ended child have before they are killed. */
const LEFTOVER_GRACE_MS = 250;
/** Ended children are looked through together, at most this often. */
const SWEEP_EVERY_MS = 100;
const RETRY_AFTER_MS = 1000;

/**
 * The one owner of every child: counts them, refuses one too many, looks after what an ended child left behind, and
 * kills all of them when this process exits, but for those that somebody else ends. Use `CHILDREN`; a second one is for
 * tests.
 */
export class ChildRegistry {
  readonly #maxChildren: number;
  readonly #living = new Map<string, Tree>();
  /** By marker: somebody else ends these, should this process exit. */
  readonly #spared = new Set<string>();
  #reserved = 0;
  #ended: { readonly tree: Tree; readonly done: () => void }[] = [];
  #isSweepDue = false;
  #sweptAt = 0;
  readonly #onExit = () => this.#killAllNow();

  constructor({ maxChildren = MAX_CHILDREN }: { maxChildren?: number } = {}) {
    this.#maxChildren = maxChildren;
  }

  /** Children whose tree is not known to be gone yet. */
  get count(): number {
    return this.#living.size + this.#reserved;
  }

  /**
   * Takes a place before a child is started. Give it back with `add` or `cancel`. Throws a `FailError` of kind
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
   * The child itself has ended. Its group gets a moment to follow, then all that is left is killed. Resolves when its
   * whole tree is gone; from then on it no longer counts.
   */
  async ended(tree: Tree): Promise<void> {
    if (hasGroup(tree.pid)) await this.#letGroupGo(tree);
    // What left the group is found by a look at the process table, which ended children share.
    if (process.platform === "linux") await this.#sweepLater(tree);
    this.remove(tree);
  }

  /** Whether a tree is left alone when this process exits, since another process looks after it from then on. */
  spare(tree: Tree, isSpared: boolean): void {
    if (isSpared) this.#spared.add(tree.marker);
    else this.#spared.delete(tree.marker);
  }

  /** The child's tree is known to be gone. */
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
