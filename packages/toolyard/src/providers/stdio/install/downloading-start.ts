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
 * A start that may download by itself: known by its signs of life (stderr, its caches, its children), and not ended in
 * the middle when its hub ends.
 */
export class DownloadingStart {
  /** It seems to download. */
  seen: { readonly since: Date; readonly waitsFor: string } | undefined;
  readonly #options: DownloadingStartOptions;
  /** What was started last, and when. */
  #child: Child | undefined;
  #startedAt = 0;
  #said = false;
  #isLocked = false;
  #leaving = 0;
  #supervisor: InstallSupervisor | undefined;

  constructor(options: DownloadingStartOptions) {
    this.#options = options;
  }

  /** Begins to look for its signs of life. The returned function ends that. */
  watch(onSign: () => void): () => void {
    const { plan } = this.#options;
    const grew = watchGrowth(plan.folders);
    const worked = watchFamily();
    const timer = setInterval(() => {
      const lock = plan.locks.find((path) => existsSync(path));
      // Where downloading is done beforehand, it is the server that is at work.
      const isAtWork = !plan.start && this.#child !== undefined && worked(this.#child.pid);
      const isAlive = [grew(), lock !== undefined, this.#said, isAtWork].includes(true);
      this.#said = false;
      if (!isAlive) return;
      onSign();
      // One that downloads nothing writes to its cache all the same.
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
    // Where downloading is done beforehand, what a server says while it starts is no sign of it.
    this.#said = this.#options.plan.install === undefined;
  }

  /** Whoever needed it ends. What ends a start meanwhile is that, and not a time that was over. */
  leaving(): () => void {
    this.#leaving += 1;
    return () => void (this.#leaving -= 1);
  }

  started(child: Child): void {
    this.#letGo();
    this.#child = child;
    this.#startedAt = performance.now();
  }

  /** Whether the child goes on without this process, since it is in the middle of a download. */
  takeOver(child: Child): boolean {
    const { plan } = this.#options;
    if (this.#leaving === 0 || plan.start || !this.seen || child !== this.#child || this.#leftMs() <= 0) return false;
    const supervisor = this.#supervisor?.isThere === true ? this.#supervisor : this.#supervisorFor(child);
    if (!supervisor) return false;
    // The keeper writes its own.
    this.#isLocked = false;
    this.#supervisor = undefined;
    supervisor.takeOver();
    return true;
  }

  /** However this process ends from now on, the download has its time, and no more. */
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

  /** A start that downloads by itself is known to other hubs, and to the next one should this one be killed. */
  #lockFor(child: Child): void {
    const { folder, files, maxMs } = this.#options;
    if (this.#isLocked || installingProcess(files, maxMs) !== undefined) return;
    try {
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
      writeWholeSync(files.lock, `${child.pid}${START_MARK}`);
      this.#isLocked = true;
    } catch {
      // Then nobody waits for it.
    }
  }

  #unlock(): void {
    if (this.#isLocked) rmSync(this.#options.files.lock, { force: true });
    this.#isLocked = false;
  }
}
