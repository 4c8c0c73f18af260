import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatDuration } from "../../core/duration.ts";
import { Emitter } from "../../core/events.ts";
import type { InnerHub } from "../../core/inner-hub.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Models } from "../../core/models.ts";
import { fail, type Outcome } from "../../core/outcome.ts";
import type { Logger } from "../../core/ports.ts";
import type { ColdStart, Provider, ProviderEvents, ProviderStatus, ResolvedCall } from "../../core/provider.ts";
import type { Listing, Problem, Source } from "../../core/records.ts";
import { orAborted, within } from "../../core/wait.ts";
import { runCall } from "./calls.ts";
import { type Discovery, discoverModules, type FoundModule } from "./discover.ts";
import { FolderWatch } from "./folder-watch.ts";
import type { LoadedModule, ModulesHost } from "./host.ts";
import { fingerprintOf, type ModuleFingerprint } from "./module-fingerprint.ts";
import { createOffer, type Offer } from "./offer.ts";
import type { ModulesOptions } from "./options.ts";
import { type LoadResult, type RunningModule } from "./running-module.ts";

export interface ModulesDeps {
  readonly source: Source;
  readonly options: ModulesOptions;
  readonly logger: Logger;
  readonly innerHub: InnerHub;
  readonly models: Models;
  /** The program that registers beside the modules, where there is one. */
  readonly host?: ModulesHost;
  /** How long lists wait for a module that was never imported. @default 5000 */
  readonly coldWaitMs?: number;
}

interface Slot {
  readonly found: FoundModule;
  readonly fingerprint: ModuleFingerprint;
  running?: RunningModule;
  problem?: string;
  /** The last import failed. */
  hasFailed?: true;
  loading?: Loading;
}

interface Loading {
  readonly done: Promise<void>;
  /** On the clock of `performance.now()`: until when a listing waits for it. */
  readonly waitUntil: number;
  /** The files changed meanwhile. */
  again?: true;
}

/**
 * A listing waits this long for modules that are being imported anew; slower ones are announced when they are there.
 */
const MAX_LIST_WAIT_MS = 3000;
const COLD_WAIT_MS = 5000;
/** A module that changes while it is imported is imported anew; whoever waits for all waits for so many rounds. */
const MAX_ROUNDS = 3;
/** Looks at the disk take at most one part in this many of the time. */
const SWEEP_SHARE = 50;

export function createModulesProvider(deps: ModulesDeps): Provider {
  return new ModulesProvider(deps);
}

/**
 * Tools, resources and prompts from the user's own functions (G1 to G10). Before it answers it looks whether a module,
 * or a file that a module imports, changed; what did is imported anew while calls under way end on what they began
 * with. A module that cannot be imported keeps its last good state, and its problem is reported.
 */
class ModulesProvider implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #deps: ModulesDeps;
  readonly #watch = new FolderWatch(() => this.#look());
  readonly #told = new Set<string>();
  readonly #retired = new Set<RunningModule>();
  #slots = new Map<string, Slot>();
  #discovery: Discovery = { modules: [], problems: [] };
  #offer: Offer | undefined;
  #nextSweepAt = 0;
  #startedAt: string | undefined;
  #closed = false;
  readonly #detach: (() => void) | undefined;

  constructor(deps: ModulesDeps) {
    this.source = deps.source;
    this.#deps = deps;
    this.#detach = deps.host?.attach({
      changed: () => this.#changed(),
      resourceUpdated: (uri) => this.#announce(uri),
      loadedModules: () => this.#loadedModules(),
    });
  }

  open(): void {
    this.#startedAt = new Date().toISOString();
    this.#sweep();
  }

  listing(): Listing | Promise<Listing> {
    this.#sweep();
    return this.#isLoading() ? this.#settled() : this.#current().listing;
  }

  /** While a module is imported for the first time: nobody knows what it will offer. */
  coldStart(): ColdStart | undefined {
    const first: Loading[] = [];
    for (const slot of this.#slots.values()) if (slot.loading && isNew(slot)) first.push(slot.loading);
    if (first.length === 0 || this.#closed) return undefined;
    return { waitUntil: Math.max(...first.map(({ waitUntil }) => waitUntil)), over: allOver(first) };
  }

  /** Resolves once every module is imported or failed to be, each within its own time. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#look();
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const loading = Array.from(this.#slots.values()).flatMap((slot) => slot.loading ?? []);
      if (loading.length === 0 || this.#closed) return;
      await orAborted(allOver(loading), signal);
    }
  }

  call(call: ResolvedCall): Promise<Outcome> {
    if (this.#closed)
      return Promise.resolve(fail("unavailable", "The hub is shutting down. Try again once it is back."));
    return runCall(call, this.#current(), this.#deps);
  }

  /** Modules say by `resourceUpdated` what changed, whoever listens; there is nobody to ask. */
  subscribe(): Promise<() => Promise<void>> {
    return Promise.resolve(() => Promise.resolve());
  }

  status(): ProviderStatus {
    const { problems } = this.#current().listing;
    const last = problems.at(-1)?.message;
    const state = this.#closed
      ? "closed"
      : this.#isLoading() || this.coldStart()
        ? "starting"
        : problems.length > 0
          ? "degraded"
          : "ready";
    const slots = Array.from(this.#slots.values());
    const modules = slots.filter((slot) => slot.running);
    return {
      state,
      ...(last === undefined ? {} : { lastError: last }),
      ...(this.#startedAt === undefined ? {} : { since: this.#startedAt }),
      info: {
        paths: [...this.#deps.options.paths],
        modules: Object.fromEntries(
          modules.map(({ found, running }) => [
            found.name,
            { path: found.path, tools: Array.from(running?.registrations.tools.keys() ?? []) },
          ]),
        ),
        loading: slots.filter(({ loading }) => loading).map(({ found }) => found.name),
        notLoaded: slots.filter(({ hasFailed, running }) => hasFailed && !running).map(({ found }) => found.name),
      },
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.close();
    this.#detach?.();
    const running = [...this.#retired, ...this.#runningModules()];
    await Promise.all(running.map((module) => module.close()));
  }

  #current(): Offer {
    const { source, options, logger, host } = this.#deps;
    this.#offer ??= createOffer({
      source,
      visibility: options.visibility,
      modules: [...this.#runningModules(), ...(host ? [host.own] : [])],
      problems: this.#problems(),
      logger,
      told: this.#told,
    });
    return this.#offer;
  }

  #runningModules(): RunningModule[] {
    return this.#discovery.modules.flatMap(({ file }) => this.#slots.get(file)?.running ?? []);
  }

  #loadedModules(): LoadedModule[] {
    return this.#discovery.modules.flatMap(({ file, name, path }) => {
      const running = this.#slots.get(file)?.running;
      return running ? [{ name, path, exports: running.exports, registrations: running.registrations }] : [];
    });
  }

  #problems(): Problem[] {
    const slots = this.#discovery.modules.flatMap(({ file, name }) => {
      const slot = this.#slots.get(file);
      const problem = slot && isLate(slot) ? this.#stillLoading(name) : slot?.problem;
      return problem === undefined ? [] : [{ subject: name, message: problem }];
    });
    return [...this.#discovery.problems, ...slots].map((problem) => ({ source: this.source.id, ...problem }));
  }

  #stillLoading(name: string): string {
    const bound = formatDuration(this.#deps.options.timeoutMs);
    return (
      `${name} is still being imported, so what it registers is missing yet. It may take ${bound}; ` +
      "`timeout` of [modules] is the bound."
    );
  }

  #isLoading(): boolean {
    for (const { loading } of this.#slots.values()) if (loading && loading.waitUntil > performance.now()) return true;
    return false;
  }

  #awaited(): Loading[] {
    const now = performance.now();
    return Array.from(this.#slots.values()).flatMap(({ loading }) =>
      loading && loading.waitUntil > now ? [loading] : [],
    );
  }

  async #settled(): Promise<Listing> {
    for (let awaited = this.#awaited(); awaited.length > 0; awaited = this.#awaited()) {
      const waitMs = Math.max(...awaited.map((loading) => loading.waitUntil)) - performance.now();
      await within(Promise.all(awaited.map((loading) => loading.done)), waitMs + 1, { keepsAlive: false });
      // What was edited while it was being imported is imported once more.
      this.#sweep();
    }
    // Who is late is named in the problems.
    if (Array.from(this.#slots.values()).some(isLate)) this.#offer = undefined;
    return this.#current().listing;
  }

  /** A watched folder changed. */
  #look(): void {
    this.#nextSweepAt = 0;
    this.#sweep();
  }

  #sweep(): void {
    const begun = performance.now();
    if (this.#closed || begun < this.#nextSweepAt) return;
    const { options } = this.#deps;
    this.#adopt(discoverModules(options.paths, options.allowlist));
    for (const slot of this.#slots.values()) this.#check(slot);
    const ended = performance.now();
    this.#nextSweepAt = ended + (ended - begun) * SWEEP_SHARE;
  }

  #check(slot: Slot): void {
    const state = slot.fingerprint.check();
    // A touch is a wish to try again what failed; what runs has nothing new.
    const isStale = state === "changed" || (state === "touched" && slot.problem !== undefined);
    if (!isStale) return;
    if (slot.loading) slot.loading.again = true;
    else this.#load(slot);
  }

  #adopt(discovery: Discovery): void {
    const before = this.#discovery;
    this.#discovery = discovery;
    const files = new Set(discovery.modules.map((module) => module.file));
    for (const [file, slot] of this.#slots) {
      if (files.has(file)) continue;
      this.#slots.delete(file);
      this.#retire(slot);
      this.#changed();
    }
    for (const found of discovery.modules) if (!this.#slots.has(found.file)) this.#add(found);
    if (JSON.stringify(before.problems) === JSON.stringify(discovery.problems)) return;
    for (const { message } of discovery.problems) this.#deps.logger.warning(message);
    this.#changed();
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
    const events = { changed: () => this.#changed(), resourceUpdated: (uri: string) => this.#announce(uri) };
    const result = await slot.fingerprint.start(found, {
      timeoutMs,
      logger,
      events,
      options,
      models,
      ...(host ? { faceOf: host.faceOf } : {}),
    });
    const isWanted = !this.#closed && this.#slots.get(found.file) === slot;
    if (!isWanted) return result.type === "running" ? result.module.close() : undefined;
    this.#settle(slot, result, logger);
    this.#changed();
  }

  #settle(slot: Slot, result: LoadResult, logger: Logger): void {
    const { found } = slot;
    delete slot.problem;
    delete slot.hasFailed;
    if (result.type === "failed") {
      slot.hasFailed = true;
      slot.problem = slot.running ? `${result.message} What it registered before the change stays.` : result.message;
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

  #changed(): void {
    this.#offer = undefined;
    if (!this.#closed) this.events.changed.emit();
  }

  #announce(uri: string): void {
    const params: JsonObject = { uri };
    if (!this.#closed) this.events.resourceUpdated.emit({ uri, params });
  }

  #watchFolders(): void {
    if (this.#closed) return;
    const folders = new Set<string>();
    for (const slot of this.#slots.values()) for (const file of slot.fingerprint.files) folders.add(dirname(file));
    for (const path of this.#deps.options.paths) for (const folder of foldersOf(path)) folders.add(folder);
    this.#watch.set(folders);
  }
}

async function allOver(loading: readonly Loading[]): Promise<void> {
  await Promise.all(loading.map(({ done }) => done));
}

/** It is being imported for the first time, and lists do not wait for it any more. */
function isLate(slot: Slot): boolean {
  return slot.loading !== undefined && isNew(slot) && slot.loading.waitUntil <= performance.now();
}

function isNew({ running, problem }: Slot): boolean {
  return running === undefined && problem === undefined;
}

/** A configured folder and its sub-folders: in any of them a module may turn up. */
function foldersOf(path: string): string[] {
  try {
    const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [path, ...folders.map((entry) => join(path, entry.name))];
  } catch {
    return [];
  }
}
