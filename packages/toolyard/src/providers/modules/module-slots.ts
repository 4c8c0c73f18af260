import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatDuration } from "../../core/text/duration.ts";
import type { Models } from "../../core/ports/models.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { ColdStart } from "../../core/sources/provider.ts";
import { orAborted } from "../../core/timing/wait.ts";
import { type ModuleDiscovery, discoverModules, type FoundModule } from "./discover.ts";
import { ModuleFolderWatch } from "./folder-watch.ts";
import type { LoadedModule, ModulesHost } from "./host.ts";
import { fingerprintOf } from "./module-fingerprint.ts";
import { allOver, isLate, isNew, type ModuleLoad, type Slot } from "./module-slot.ts";
import type { ModulesOptions } from "./options.ts";
import type { LoadResult, RunningModule } from "./running-module.ts";

export interface ModuleSlotsOptions {
  readonly options: ModulesOptions;
  readonly logger: Logger;
  readonly models: Models;
  readonly host?: ModulesHost;
  readonly coldWaitMs?: number;
  /** Called when the offered tools or the reported problems change. */
  changed(): void;
  resourceUpdated(uri: string): void;
}

/**
 * Maximum time in milliseconds for which a listing waits for modules that are imported again. Slower ones are announced
 * when they are ready.
 */
const MAX_LIST_WAIT_MS = 3000;
const COLD_WAIT_MS = 5000;
/** Maximum number of import rounds of a refresh. A module that changes during its import is imported again. */
const MAX_ROUNDS = 3;
/** Maximum fraction of the time for checks of the disk: one part in 50. */
const SWEEP_SHARE = 50;
/**
 * Maximum fraction of the time for checks of the disk if a request concerns another source: one part in 1,000. Less is
 * enough, because the folders are watched too.
 */
const SWEEP_SHARE_FOR_OTHERS = 1000;
/**
 * Maximum time between two checks of the disk for requests that concern another source, unless checks are slow. Such
 * checks are needed because a new module may have a tool with the requested name.
 */
const MAX_REST_MS = 1000;

/**
 * The modules of the configured folders. Found modules are imported. Changed modules are imported again while running
 * calls end in the earlier state. Removed modules are closed. A module that cannot be imported keeps its last valid
 * state.
 */
export class ModuleSlots {
  readonly #deps: ModuleSlotsOptions;
  readonly #watch = new ModuleFolderWatch(() => this.look());
  readonly #retired = new Set<RunningModule>();
  #slots = new Map<string, Slot>();
  #discovery: ModuleDiscovery = { modules: [], problems: [] };
  #nextSweepAt = 0;
  #nextSweepForOthersAt = 0;
  #closed = false;

  constructor(deps: ModuleSlotsOptions) {
    this.#deps = deps;
  }

  get all(): readonly Slot[] {
    return Array.from(this.#slots.values());
  }

  /** Running modules in order of discovery. */
  get running(): RunningModule[] {
    return this.#discovery.modules.flatMap(({ file }) => this.#slots.get(file)?.running ?? []);
  }

  loadedModules(): LoadedModule[] {
    return this.#discovery.modules.flatMap(({ file, name, path }) => {
      const running = this.#slots.get(file)?.running;
      return running ? [{ name, path, exports: running.exports, registrations: running.registrations }] : [];
    });
  }

  problems(): readonly { readonly subject: string; readonly message: string }[] {
    const slots = this.#discovery.modules.flatMap(({ file, name }) => {
      const slot = this.#slots.get(file);
      const problem = slot && isLate(slot) ? this.#stillLoading(name) : slot?.problem;
      return problem === undefined ? [] : [{ subject: name, message: problem }];
    });
    return [...this.#discovery.problems, ...slots];
  }

  /**
   * Returns the wait for modules that are imported for the first time and whose tools are therefore not yet known;
   * undefined if there are none.
   */
  coldStart(): ColdStart | undefined {
    const first: ModuleLoad[] = [];
    for (const slot of this.#slots.values()) if (slot.loading && isNew(slot)) first.push(slot.loading);
    if (first.length === 0 || this.#closed) return undefined;
    return { waitUntil: Math.max(...first.map(({ waitUntil }) => waitUntil)), over: allOver(first) };
  }

  /** Resolves when every module has been imported or has failed, each within its own time. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.look();
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const loading = Array.from(this.#slots.values()).flatMap((slot) => slot.loading ?? []);
      if (loading.length === 0 || this.#closed) return;
      await orAborted(allOver(loading), signal);
    }
  }

  /** True if a listing waits for some of the modules. */
  get isLoading(): boolean {
    for (const { loading } of this.#slots.values()) if (loading && loading.waitUntil > performance.now()) return true;
    return false;
  }

  /** Returns the modules for which a listing waits. */
  awaited(): ModuleLoad[] {
    const now = performance.now();
    return Array.from(this.#slots.values()).flatMap(({ loading }) =>
      loading && loading.waitUntil > now ? [loading] : [],
    );
  }

  /** True if some modules are being imported for the first time and lists no longer wait for them. */
  get hasLate(): boolean {
    return this.all.some(isLate);
  }

  /** Checks the files on disk now. */
  look(): void {
    this.#nextSweepAt = 0;
    this.sweep();
  }

  /** Checks the disk if a check is due. `isForOther`: see `ListingRequest`. */
  sweep(isForOther = false): void {
    const begun = performance.now();
    if (this.#closed || begun < (isForOther ? this.#nextSweepForOthersAt : this.#nextSweepAt)) return;
    const { options } = this.#deps;
    this.#adopt(discoverModules(options.paths, options.allowlist));
    for (const slot of this.#slots.values()) this.#check(slot);
    const ended = performance.now();
    const tookMs = ended - begun;
    this.#nextSweepAt = ended + tookMs * SWEEP_SHARE;
    const restMs = Math.min(tookMs * SWEEP_SHARE_FOR_OTHERS, MAX_REST_MS);
    this.#nextSweepForOthersAt = Math.max(this.#nextSweepAt, ended + restMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch.close();
    const running = [...this.#retired, ...this.running];
    await Promise.all(running.map((module) => module.close()));
  }

  #check(slot: Slot): void {
    const state = slot.fingerprint.check();
    // A touched file is imported again only if its last import failed. It does not affect a running module.
    const isStale = state === "changed" || (state === "touched" && slot.problem !== undefined);
    if (!isStale) return;
    if (slot.loading) slot.loading.again = true;
    else this.#load(slot);
  }

  #adopt(discovery: ModuleDiscovery): void {
    const before = this.#discovery;
    this.#discovery = discovery;
    const files = new Set(discovery.modules.map((module) => module.file));
    for (const [file, slot] of this.#slots) {
      if (files.has(file)) continue;
      this.#slots.delete(file);
      this.#retire(slot);
      this.#deps.changed();
    }
    for (const found of discovery.modules) if (!this.#slots.has(found.file)) this.#add(found);
    if (JSON.stringify(before.problems) === JSON.stringify(discovery.problems)) return;
    for (const { message } of discovery.problems) this.#deps.logger.warning(message);
    this.#deps.changed();
  }

  #add(found: FoundModule): void {
    const slot: Slot = { found, fingerprint: fingerprintOf(found.file) };
    this.#slots.set(found.file, slot);
    this.#load(slot);
  }

  #load(slot: Slot): void {
    const waitMs = isNew(slot) ? (this.#deps.coldWaitMs ?? COLD_WAIT_MS) : MAX_LIST_WAIT_MS;
    slot.loading = { waitUntil: performance.now() + waitMs, done: this.#run(slot) };
  }

  async #run(slot: Slot): Promise<void> {
    await this.#start(slot);
    const again = slot.loading?.again;
    delete slot.loading;
    this.#watchFolders();
    if (again && !this.#closed) this.#load(slot);
  }

  async #start(slot: Slot): Promise<void> {
    const { found } = slot;
    const { options, host, models } = this.#deps;
    const { timeoutMs } = options;
    const logger = this.#deps.logger.with({ module: found.name });
    const { changed, resourceUpdated } = this.#deps;
    const result = await slot.fingerprint.start(found, {
      timeoutMs,
      logger,
      events: { changed, resourceUpdated },
      options,
      models,
      ...(host ? { faceOf: host.faceOf } : {}),
    });
    const isWanted = !this.#closed && this.#slots.get(found.file) === slot;
    if (!isWanted) return result.type === "running" ? result.module.close() : undefined;
    this.#settle(slot, result, logger);
    this.#deps.changed();
  }

  #settle(slot: Slot, result: LoadResult, logger: Logger): void {
    const { found } = slot;
    delete slot.problem;
    delete slot.hasFailed;
    if (result.type === "failed") {
      slot.hasFailed = true;
      slot.problem = slot.running ? `${result.message} Its earlier registrations stay.` : result.message;
      const stack = result.cause instanceof Error ? result.cause.stack : undefined;
      return logger.error(slot.problem, stack === undefined ? {} : { stack });
    }
    this.#retire(slot);
    if (result.type === "empty") {
      slot.problem = result.message;
      return logger.warning(result.message);
    }
    slot.running = result.module;
    logger.info(`Successfully registered tools from ${found.name}`);
  }

  #retire(slot: Slot): void {
    const { running } = slot;
    if (!running) return;
    delete slot.running;
    this.#retired.add(running);
    running.retire(() => this.#retired.delete(running));
  }

  #stillLoading(name: string): string {
    const bound = formatDuration(this.#deps.options.timeoutMs);
    return (
      `${name} is still being imported, so its tools are still missing. It may take up to ${bound} ` +
      "(`timeout` of [modules])."
    );
  }

  #watchFolders(): void {
    if (this.#closed) return;
    const folders = new Set<string>();
    for (const slot of this.#slots.values()) for (const file of slot.fingerprint.files) folders.add(dirname(file));
    for (const path of this.#deps.options.paths) for (const folder of foldersOf(path)) folders.add(folder);
    this.#watch.set(folders);
  }
}

/** Returns a configured folder and its subfolders. All are watched, because a module may appear in any of them. */
function foldersOf(path: string): string[] {
  try {
    const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [path, ...folders.map((entry) => join(path, entry.name))];
  } catch {
    return [];
  }
}
