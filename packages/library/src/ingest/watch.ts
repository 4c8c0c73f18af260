import { stat } from "node:fs/promises";
import { join } from "node:path";
import { watch as watchFiles, type FSWatcher } from "chokidar";
import { filesOf } from "../documents/open-folders.ts";
import { FOLDER_EXTENSIONS } from "../documents/formats.ts";
import { Lease } from "./lease.ts";

export interface WatchOptions {
  readonly roots: readonly string[];
  /** Folder of the lease file. */
  readonly folder: string;
  /** Receives new and changed files. If it rejects, the same files are passed again later. */
  readonly onFiles: (paths: readonly string[]) => Promise<void>;
  /** Time that a file must be unchanged before it is read, in milliseconds. @default 2,000 */
  readonly settleMs?: number;
  /**
   * Time between two sweeps, in milliseconds, since the system may not report every change. @default 600,000
   */
  readonly sweepMs?: number;
}

const DEFAULTS = { settleMs: 2_000, sweepMs: 600_000 };
const LEASE_MS = 30_000;
/** Maximum time that the system takes to start watching. */
const READY_MS = 30_000;
/** Maximum number of files with stored state. Files beyond the limit are compared at each sweep. */
const MAX_KNOWN = 100_000;

/**
 * Adds files of folders to the library when they appear or change. If several processes watch the same folders, only
 * one of them adds files. Files that disappear stay in the library, because a drive may have been unplugged.
 */
export class Watch implements AsyncDisposable {
  readonly #options: Required<WatchOptions>;
  readonly #lease: Lease;
  readonly #known = new Map<string, string>();
  readonly #fresh = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #watcher: FSWatcher | undefined;
  #settling: NodeJS.Timeout | undefined;
  #endWait = (): void => {};
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#lease = new Lease(join(options.folder, "watch.lease"));
  }

  get isWatching(): boolean {
    return this.#watcher !== undefined;
  }

  /** Resolves after the first sweep, or immediately if another process watches. */
  async start(): Promise<void> {
    if (this.#isClosed || this.#watcher) return;
    if (!(await this.#lease.take())) {
      this.#later(LEASE_MS, () => this.start());
      return;
    }
    if (this.#isClosed) return this.#lease.release();
    const ignored = (path: string): boolean => /(^|[\\/])\.[^\\/]/.test(this.#below(path));
    this.#watcher = watchFiles([...this.#options.roots], { ignored, ignoreInitial: true, followSymlinks: false });
    // Errors of the watcher are ignored, because the sweep finds the changes that it misses.
    this.#watcher.on("error", () => {});
    this.#watcher.on("add", (path) => this.#changed(path));
    this.#watcher.on("change", (path) => this.#changed(path));
    // Events before the watcher is ready describe existing files, so the sweep runs afterwards.
    await this.#ready(this.#watcher);
    await this.#sweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#settling);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#endWait();
    await this.#watcher?.close();
    await this.#lease.release();
  }

  async #ready(watcher: FSWatcher): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((done) => {
      // A watcher that is closed before it is ready never reports that it is.
      this.#endWait = done;
      timer = setTimeout(done, READY_MS).unref();
      watcher.once("ready", done);
    });
    clearTimeout(timer);
  }

  #below(path: string): string {
    const root = this.#options.roots.find((one) => path.startsWith(one)) ?? "";
    return path.slice(root.length);
  }

  #changed(path: string): void {
    if (!FOLDER_EXTENSIONS.some((extension) => path.toLowerCase().endsWith(extension))) return;
    this.#fresh.add(path);
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      const paths = Array.from(this.#fresh);
      this.#fresh.clear();
      void this.#hand(paths);
    }, this.#options.settleMs).unref();
  }

  async #sweep(): Promise<void> {
    for (const root of this.#options.roots) await this.#hand(await filesOf(root).catch(() => []));
    this.#later(this.#options.sweepMs, () => this.#sweep());
  }

  async #hand(paths: readonly string[]): Promise<void> {
    const changed: string[] = [];
    for (const path of paths) {
      const state = await stat(path).then(
        ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
        () => undefined,
      );
      if (state === undefined || this.#known.get(path) === state) continue;
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(path, state);
      changed.push(path);
    }
    if (changed.length === 0 || this.#isClosed) return;
    await this.#options.onFiles(changed).catch(() => {
      for (const path of changed) this.#known.delete(path);
    });
  }

  #later(ms: number, run: () => Promise<void>): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void run();
    }, ms).unref();
    this.#timers.add(timer);
  }
}
