import { type FSWatcher, watch } from "node:fs";

/** Folders that are watched at most; changes in others are seen by the next request. */
const MAX_FOLDERS = 256;
/** Editors write in several steps. */
const SETTLE_MS = 100;

/** Watches folders, each without its sub-folders, and calls once after a burst of changes. Keeps no process alive. */
export class ModuleFolderWatch {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches exactly these from now on. */
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
      // A folder that goes away, or a system that has no watches left: the next request looks for itself.
      watcher.on("error", () => {
        watcher.close();
        if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // Not there, or not watchable: as above.
    }
  }

  #note(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onChange, SETTLE_MS).unref();
  }
}
