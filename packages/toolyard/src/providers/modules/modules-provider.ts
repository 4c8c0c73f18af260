import { Emitter } from "../../core/events.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Models } from "../../core/ports/models.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type {
  ColdStart,
  Provider,
  ProviderEvents,
  ListingRequest,
  ProviderState,
  ProviderStatus,
  ResolvedCall,
} from "../../core/sources/provider.ts";
import type { Listing, Problem, Source } from "../../core/sources/records.ts";
import { within } from "../../core/timing/wait.ts";
import { runCall } from "./calls.ts";
import type { ModulesHost } from "./host.ts";
import { ModuleSlots } from "./module-slots.ts";
import { createOffer, type ModuleOffer } from "./offer.ts";
import type { ModulesOptions } from "./options.ts";

export interface ModulesDeps {
  readonly source: Source;
  readonly options: ModulesOptions;
  readonly logger: Logger;
  readonly innerHub: InnerHub;
  readonly models: Models;
  /** The program that creates the hub, if it registers tools itself. */
  readonly host?: ModulesHost;
  /** Maximum wait of lists, in milliseconds, for a module that was never imported. @default 5000 */
  readonly coldWaitMs?: number;
}

export function createModulesProvider(deps: ModulesDeps): Provider {
  return new ModulesProvider(deps);
}

/**
 * Tools, resources and prompts from the user's own functions (G1 to G10). Before each answer, checks whether a module
 * or a file that it imports has changed. Changed modules are imported again while running calls end in the earlier
 * state. A module that cannot be imported keeps its last valid state, and its problem is reported.
 */
class ModulesProvider implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #deps: ModulesDeps;
  readonly #modules: ModuleSlots;
  readonly #told = new Set<string>();
  #offer: ModuleOffer | undefined;
  #startedAt: string | undefined;
  #closed = false;
  readonly #detach: (() => void) | undefined;

  constructor(deps: ModulesDeps) {
    this.source = deps.source;
    this.#deps = deps;
    const events = { changed: () => this.#changed(), resourceUpdated: (uri: string) => this.#announce(uri) };
    this.#modules = new ModuleSlots({ ...deps, ...events });
    this.#detach = deps.host?.attach({ ...events, loadedModules: () => this.#modules.loadedModules() });
  }

  open(): void {
    this.#startedAt = new Date().toISOString();
    this.#modules.sweep();
  }

  listing(wish?: ListingRequest): Listing | Promise<Listing> {
    this.#modules.sweep(wish?.isForOther);
    return this.#modules.isLoading ? this.#settled() : this.#current().listing;
  }

  /**
   * Returns the wait for modules that are imported for the first time and whose tools are therefore not yet known;
   * undefined if there are none.
   */
  coldStart(): ColdStart | undefined {
    return this.#modules.coldStart();
  }

  /** Resolves when every module has been imported or has failed, each within its own time. */
  refresh(signal: AbortSignal): Promise<void> {
    return this.#modules.refresh(signal);
  }

  call(call: ResolvedCall): Promise<Outcome> {
    if (this.#closed)
      return Promise.resolve(fail("unavailable", "The hub is shutting down. Try again once it is back."));
    return runCall(call, this.#current(), this.#deps);
  }

  /** Does nothing: modules always report changes with `resourceUpdated`, so no subscription is needed. */
  subscribe(): Promise<() => Promise<void>> {
    return Promise.resolve(() => Promise.resolve());
  }

  status(): ProviderStatus {
    const { problems } = this.#current().listing;
    const last = problems.at(-1)?.message;
    return {
      state: this.#state(problems.length > 0),
      ...(last === undefined ? {} : { lastError: last }),
      ...(this.#startedAt === undefined ? {} : { since: this.#startedAt }),
      info: this.#info(),
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#detach?.();
    await this.#modules.close();
  }

  #state(hasProblems: boolean): ProviderState {
    if (this.#closed) return "closed";
    if (this.#modules.isLoading || this.coldStart()) return "starting";
    return hasProblems ? "degraded" : "ready";
  }

  #info(): JsonObject {
    const slots = this.#modules.all;
    return {
      paths: [...this.#deps.options.paths],
      modules: Object.fromEntries(
        slots.flatMap(({ found: { name, path }, running }) =>
          running ? [[name, { path, tools: Array.from(running.registrations.tools.keys()) }]] : [],
        ),
      ),
      loading: slots.filter(({ loading }) => loading).map(({ found }) => found.name),
      notLoaded: slots.filter(({ hasFailed, running }) => hasFailed && !running).map(({ found }) => found.name),
    };
  }

  #current(): ModuleOffer {
    const { source, options, logger, host } = this.#deps;
    this.#offer ??= createOffer({
      source,
      visibility: options.visibility,
      modules: [...this.#modules.running, ...(host ? [host.own] : [])],
      problems: this.#modules.problems().map((problem): Problem => ({ source: source.id, ...problem })),
      logger,
      told: this.#told,
    });
    return this.#offer;
  }

  async #settled(): Promise<Listing> {
    for (let awaited = this.#modules.awaited(); awaited.length > 0; awaited = this.#modules.awaited()) {
      const waitMs = Math.max(...awaited.map((loading) => loading.waitUntil)) - performance.now();
      await within(Promise.all(awaited.map((loading) => loading.done)), waitMs + 1, { keepsAlive: false });
      // Checks again, so that a file that was edited during its import is imported again.
      this.#modules.sweep();
    }
    // The offer must be built again, because it contains problems that name the late modules.
    if (this.#modules.hasLate) this.#offer = undefined;
    return this.#current().listing;
  }

  #changed(): void {
    this.#offer = undefined;
    if (!this.#closed) this.events.changed.emit();
  }

  #announce(uri: string): void {
    const params: JsonObject = { uri };
    if (!this.#closed) this.events.resourceUpdated.emit({ uri, params });
  }
}
