import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { FolderNode, type FolderProblem, type FolderReader } from "./node.ts";
import { ToolFolderWatch } from "./watch.ts";

/** Maximum depth of nested folders. */
const MAX_DEPTH = 8;
/** Maximum number of folders in total. Further folders are reported and skipped. */
const MAX_FOLDERS = 20_000;
/**
 * Time in milliseconds after which a sweep yields to other work. The checks are synchronous, because asynchronous ones
 * use three times as much CPU.
 */
const SLICE_MS = 8;
/** Number of folders between two reads of the clock. */
const CLOCK_EVERY = 32;

export interface SweepResult<T> {
  /** Values of all folders, in path order, root by root. */
  readonly values: readonly T[];
  readonly problems: readonly FolderProblem[];
}

export interface FolderSweepOptions<T> {
  /** Absolute paths in order of precedence. A missing root is a problem, and is checked again. */
  readonly roots: readonly string[];
  readonly reader: FolderReader<T>;
  readonly logger: Logger;
}

/**
 * Holds one value per folder of some trees, as current as the disk: each `current()` reflects every change that was
 * made before the call. It costs little more than one stat per folder and file. Callers that arrive during a sweep
 * share the next one, so a hundred callers cost at most two sweeps.
 */
export class FolderSweep<T> {
  readonly #options: FolderSweepOptions<T>;
  readonly #roots: readonly FolderNode<T>[];
  readonly #onChange: () => void;
  readonly #watch: ToolFolderWatch;
  #isOpen = false;
  #isClosed = false;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<SweepResult<T>> | undefined;
  #result: SweepResult<T> | undefined;
  #sweeps = 0;

  /** `onChange` is called after a sweep with a different result. */
  constructor(options: FolderSweepOptions<T>, onChange: () => void) {
    this.#options = options;
    this.#roots = options.roots.map((path) => new FolderNode<T>(path));
    this.#onChange = onChange;
    this.#watch = new ToolFolderWatch(() => this.current().then(() => this.#follow()));
  }

  /** Number of sweeps. */
  get sweeps(): number {
    return this.#sweeps;
  }

  /** Starts to watch, so that changes are announced without a request. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return;
    this.#isOpen = true;
    void this.current().then(() => this.#follow());
  }

  /** Runs a sweep and returns its result; the same object while nothing has changed. */
  current(): Promise<SweepResult<T>> {
    if (this.#isClosed) return Promise.resolve(this.#result ?? EMPTY);
    this.#next ??= this.#start();
    return this.#next;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.close();
    await this.#running;
  }

  async #start(): Promise<SweepResult<T>> {
    const before = this.#running;
    await before;
    // All callers in this turn of the event loop share one sweep.
    await nextTurn();
    const sweep = this.#sweep();
    this.#next = undefined;
    this.#running = sweep;
    return sweep;
  }

  async #sweep(): Promise<SweepResult<T>> {
    this.#sweeps += 1;
    let isChanged = this.#result === undefined;
    const isFirst = isChanged;
    const stack = this.#roots.toReversed();
    const now = Date.now();
    let sliceEnd = performance.now() + SLICE_MS;
    for (let seen = 0; stack.length > 0 && seen < MAX_FOLDERS; seen += 1) {
      const node = stack.pop()!;
      if (this.#look(node, now)) isChanged = true;
      pushChildren(stack, node);
      if (seen % CLOCK_EVERY !== 0 || performance.now() < sliceEnd) continue;
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    if (!isChanged) return this.#result!;
    this.#result = this.#collect(stack.length);
    if (!isFirst) this.#announce();
    return this.#result;
  }

  #look(node: FolderNode<T>, now: number): boolean {
    try {
      return node.look(this.#options.reader, now);
    } catch (error) {
      this.#options.logger.error("A tools folder could not be looked at.", {
        folder: node.path,
        error: messageOf(error),
      });
      return false;
    }
  }

  #collect(leftOut: number): SweepResult<T> {
    const values: T[] = [];
    const problems: FolderProblem[] = [];
    this.#walk((node) => {
      if (node.value !== undefined) values.push(node.value);
      problems.push(...node.problems);
      if (node.depth === 0 && !node.isThere)
        problems.push({
          place: node.path,
          message: "The tools folder does not exist (yet). Create it, or correct its path.",
        });
    });
    if (leftOut > 0)
      problems.push({
        place: "",
        message: `There are more than ${MAX_FOLDERS} folders; the rest is left out. Name a smaller tools folder.`,
      });
    return Object.freeze({ values, problems });
  }

  #walk(visit: (node: FolderNode<T>) => void): void {
    const stack = this.#roots.toReversed();
    for (let seen = 0; stack.length > 0 && seen < MAX_FOLDERS; seen += 1) {
      const node = stack.pop()!;
      visit(node);
      pushChildren(stack, node);
    }
  }

  // Notifies listeners, after the caller has received the result.
  #announce(): void {
    this.#follow();
    setImmediate(() => {
      if (!this.#isClosed) this.#onChange();
    });
  }

  #follow(): void {
    if (!this.#isOpen || this.#isClosed) return;
    const folders: string[] = [];
    this.#walk((node) => {
      if (node.isThere) folders.push(node.path);
    });
    const roots = this.#roots.filter((node) => node.isThere).map((node) => node.path);
    this.#watch.follow(roots, folders, roots.length < this.#roots.length);
  }
}

/** Pushes children in reverse order, so that folders are processed in path order. */
function pushChildren<T>(stack: FolderNode<T>[], { children, depth }: FolderNode<T>): void {
  if (depth >= MAX_DEPTH) return;
  for (let index = children.length - 1; index >= 0; index -= 1) stack.push(children[index]!);
}

const EMPTY: SweepResult<never> = Object.freeze({ values: [], problems: [] });
