import { existsSync, mkdirSync, rmSync } from "node:fs";
import { writeWholeSync } from "../../../files/write-whole.ts";
import type { Child } from "../../../process/child.ts";
import { watchFamily } from "./family.ts";
import { watchGrowth } from "./growth.ts";
import { installingProcess, START_MARK, type InstallFiles } from "./install-files.ts";
import { InstallSupervisor } from "./install-supervisor.ts";
import type { InstallPlan } from "./runner.ts";

export interface DownloadingStartOptions {
  readonly plan: InstallPlan;
  readonly files: InstallFiles;
  readonly folder: string;
  readonly maxMs: number;
}

const FOLDER_MODE = 0o700;
const LOOK_MS = 1000;

/**
 * Observes the start of a server that may download its own packages. A download is detected by its activity (stderr,
 * its caches, its child processes), and is not interrupted when the hub ends.
 */
export class DownloadingStart {
  /** Present while the start seems to download. */
  seen: { readonly since: Date; readonly waitsFor: string } | undefined;
  readonly #options: DownloadingStartOptions;
  /** The last started child, and its start time. */
  #child: Child | undefined;
  #startedAt = 0;
  #said = false;
  #isLocked = false;
  #leaving = 0;
  #supervisor: InstallSupervisor | undefined;

  constructor(options: DownloadingStartOptions) {
    this.#options = options;
  }

  /** Watches for activity. The returned function stops that. */
  watch(onSign: () => void): () => void {
    const { plan } = this.#options;
    const grew = watchGrowth(plan.folders);
    const worked = watchFamily();
    const timer = setInterval(() => {
      const lock = plan.locks.find((path) => existsSync(path));
      // If packages are downloaded before the start, activity shows that the server itself is working.
      const isAtWork = !plan.start && this.#child !== undefined && worked(this.#child.pid);
      const isAlive = [grew(), lock !== undefined, this.#said, isAtWork].includes(true);
      this.#said = false;
      if (!isAlive) return;
      onSign();
      // A changed cache without the lock of a download does not indicate a download, because a start that downloads
      // nothing may still write to its cache.
      if (plan.start && lock === undefined) return void (this.seen = undefined);
      const waitsFor = lock === undefined ? "its start, which may download" : `another process that holds ${lock}`;
      this.seen = { since: this.seen?.since ?? new Date(), waitsFor };
      if (!plan.start) this.#keep(this.#child);
    }, LOOK_MS);
    timer.unref();
    return () => {
      clearInterval(timer);
      this.seen = undefined;
      this.#letGo();
      this.#unlock();
    };
  }

  heard(): void {
    // If packages are downloaded before the start, output is no sign of a download.
    this.#said = this.#options.plan.install === undefined;
  }

  /** Records that the server is no longer needed. The end of the start then has this reason and not a timeout. */
  leaving(): () => void {
    this.#leaving += 1;
    return () => void (this.#leaving -= 1);
  }

  started(child: Child): void {
    this.#letGo();
    this.#child = child;
    this.#startedAt = performance.now();
  }

  /** Takes over the child if it is downloading, so that it continues without this process. Returns whether it did. */
  takeOver(child: Child): boolean {
    const { plan } = this.#options;
    if (this.#leaving === 0 || plan.start || !this.seen || child !== this.#child || this.#leftMs() <= 0) return false;
    const supervisor = this.#supervisor?.isThere === true ? this.#supervisor : this.#supervisorFor(child);
    if (!supervisor) return false;
    // The supervisor writes a lock itself, so this process does not remove the lock.
    this.#isLocked = false;
    this.#supervisor = undefined;
    supervisor.takeOver();
    return true;
  }

  /** Limits the time of the download, even if this process ends. */
  #keep(child: Child | undefined): void {
    if (!child || child.exit !== undefined) return;
    this.#lockFor(child);
    this.#supervisor ??= this.#supervisorFor(child);
  }

  #supervisorFor(child: Child): InstallSupervisor | undefined {
    const { plan, files } = this.#options;
    const [cacheFolder] = plan.folders;
    return InstallSupervisor.start(child, {
      files,
      maxMs: this.#leftMs(),
      ...(cacheFolder !== undefined && { cacheFolder }),
    });
  }

  #letGo(): void {
    this.#supervisor?.release();
    this.#supervisor = undefined;
  }

  #leftMs(): number {
    return this.#options.maxMs - (performance.now() - this.#startedAt);
  }

  /** Writes a lock that shows the download to other hubs, and to the next hub if this one is killed. */
  #lockFor(child: Child): void {
    const { folder, files, maxMs } = this.#options;
    if (this.#isLocked || installingProcess(files, maxMs) !== undefined) return;
    try {
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
      writeWholeSync(files.lock, `${child.pid}${START_MARK}`);
      this.#isLocked = true;
    } catch {
      // If the lock cannot be written, no other process can wait for it.
    }
  }

  #unlock(): void {
    if (this.#isLocked) rmSync(this.#options.files.lock, { force: true });
    this.#isLocked = false;
  }
}
