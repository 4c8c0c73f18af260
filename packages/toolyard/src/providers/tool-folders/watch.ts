import { watch, type FSWatcher } from "node:fs";

/** Maximum number of watched folders. Above it, or if watching fails, a check every `POLL_MS` replaces it. */
const MAX_WATCHED = 4096;
const POLL_MS = 2000;
/** Time in milliseconds without a further event before the check, because changes arrive in bursts. */
const QUIET_MS = 50;

/**
 * Reports a change in one of some folders. The report only makes the announcement of a change faster, so a missed event
 * only causes a delay.
 */
export class ToolFolderWatch {
  readonly #onHint: () => Promise<unknown>;
  readonly #watchers = new Map<string, FSWatcher>();
  #hintTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #notBefore = 0;
  #isClosed = false;

  /** After `onHint` was called, further events are delayed by ten times the duration of that call. */
  constructor(onHint: () => Promise<unknown>) {
    this.#onHint = onHint;
  }

  /** Replaces the watched folders. `roots` are watched recursively if the system supports that. */
  follow(roots: readonly string[], folders: readonly string[], isMissing: boolean): void {
    if (this.#isClosed) return;
    const isDeep = process.platform === "darwin" || process.platform === "win32";
    const wanted = new Set(isDeep ? roots : folders.slice(0, MAX_WATCHED));
    for (const [path, watcher] of this.#watchers) if (!wanted.has(path)) this.#drop(path, watcher);
    for (const path of wanted) if (!this.#watchers.has(path)) this.#add(path, isDeep);
    this.#poll(isMissing || this.#watchers.size < wanted.size || (!isDeep && folders.length > MAX_WATCHED));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#hintTimer);
    clearInterval(this.#pollTimer);
    for (const [path, watcher] of this.#watchers) this.#drop(path, watcher);
  }

  #add(path: string, recursive: boolean): void {
    try {
      const watcher = watch(path, { persistent: false, recursive }, () => this.#hint());
      // The error is ignored: a removed folder ends its watcher, and the next check decides what to watch.
      watcher.on("error", () => {
        this.#drop(path, watcher);
        this.#hint();
      });
      this.#watchers.set(path, watcher);
    } catch {
      // The folder cannot be watched, because the system has no watches left or the folder was removed. It is polled
      // instead.
    }
  }

  #drop(path: string, watcher: FSWatcher): void {
    this.#watchers.delete(path);
    watcher.close();
  }

  #poll(isNeeded: boolean): void {
    if (isNeeded && !this.#pollTimer) this.#pollTimer = setInterval(() => this.#hint(), POLL_MS).unref();
    if (isNeeded || !this.#pollTimer) return;
    clearInterval(this.#pollTimer);
    this.#pollTimer = undefined;
  }

  #hint(): void {
    if (this.#isClosed || this.#hintTimer) return;
    const delayMs = Math.max(QUIET_MS, this.#notBefore - performance.now());
    this.#hintTimer = setTimeout(() => void this.#run(), delayMs).unref();
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    // An event that arrives from now on causes another check.
    this.#hintTimer = undefined;
    await this.#onHint();
    // The next check is delayed, because a tool that writes into its own folder continuously must not keep the hub
    // busy.
    const now = performance.now();
    this.#notBefore = now + (now - startedAt) * 10;
  }
}
