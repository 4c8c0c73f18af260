import { type FSWatcher, watch } from "node:fs";

/** Maximum number of watched folders. Changes in further folders are detected at the next request. */
const MAX_FOLDERS = 256;
/** Time to wait for further changes, because editors write in several steps. */
const SETTLE_MS = 100;

/**
 * Watches folders without their subfolders, and calls back once after a burst of changes. Does not keep the process
 * alive.
 */
export class ModuleFolderWatch {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Replaces the watched folders. */
  set(folders: Iterable<string>): void {
    const wanted = new Set(Array.from(folders).slice(0, MAX_FOLDERS));
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.set([]);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#note());
      // Without a watcher, because the folder was removed or the system has no more watches, the next request detects
      // changes.
      watcher.on("error", () => {
        watcher.close();
        if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is missing or cannot be watched. The next request then detects changes.
    }
  }

  #note(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onChange, SETTLE_MS).unref();
  }
}
