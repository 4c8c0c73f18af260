import { watch, type FSWatcher } from "node:fs";

/** Folders watched at once; beyond it, and wherever watching fails, a look every `POLL_MS` takes its place. */
const MAX_WATCHED = 4096;
const POLL_MS = 2000;
/** Changes come in bursts; they are looked at together. */
const QUIET_MS = 50;

/**
 * Says that something happened in one of some folders. Only a hint for pushing news early: what a request sees never
 * depends on it, so a missed event costs a delay and nothing else.
 */
export class ToolFolderWatch {
  readonly #onHint: () => Promise<unknown>;
  readonly #watchers = new Map<string, FSWatcher>();
  #hintTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #notBefore = 0;
  #isClosed = false;

  /** `onHint` rests for ten times as long as it took. */
  constructor(onHint: () => Promise<unknown>) {
    this.#onHint = onHint;
  }

  /** Watches these folders and no others. `roots` are watched as a whole where the system can do that. */
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
      // A folder that goes away ends its watcher; the next look decides what to follow.
      watcher.on("error", () => {
        this.#drop(path, watcher);
        this.#hint();
      });
      this.#watchers.set(path, watcher);
    } catch {
      // Out of watches, or gone in between: polled then.
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
    // From here on a further event asks for a further look.
    this.#hintTimer = undefined;
    await this.#onHint();
    // A tool that writes into its own folder all day must not keep the hub busy.
    const now = performance.now();
    this.#notBefore = now + (now - startedAt) * 10;
  }
}
