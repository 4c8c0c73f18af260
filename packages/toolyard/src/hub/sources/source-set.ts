import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Provider } from "../../core/sources/provider.ts";
import type { ProviderKind } from "../../core/sources/provider-kinds.ts";

/** Source of the configuration that was not created yet. */
export interface PlannedSource {
  readonly id: string;
  readonly kind: ProviderKind;
  /** Key of the source's configuration. If it is equal, a reload does not change the source. */
  readonly key: string;
  create(): Promise<Provider>;
}

export interface SourceChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Called for every source before it is opened and before it ends. */
export interface SourceSetListener {
  onAdded(provider: Provider): void;
  onRemoved(provider: Provider): void;
}

interface RunningSource {
  readonly key: string;
  readonly provider: Provider;
}

/** Key of a source that must be created again. No planned source has it, because the keys of plans are JSON. */
const CHANGED_KEY = "changed";

/** Creates sources and ends them. It is the only owner of providers. */
export class SourceSet {
  readonly #logger: Logger;
  #running = new Map<string, RunningSource>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Providers in the order of the last plan. */
  get providers(): readonly Provider[] {
    return [...this.#running.values()].map(({ provider }) => provider);
  }

  find(id: string): Provider | undefined {
    return this.#running.get(id)?.provider;
  }

  /**
   * Changes the running sources to those of the plan: new sources start, changed ones are replaced, removed ones end,
   * the others continue. Rejects before any change if a source cannot be created.
   */
  async apply(plan: readonly PlannedSource[], events: SourceSetListener): Promise<SourceChanges> {
    const fresh = await this.#createFresh(plan);
    const before = this.#running;
    this.#running = new Map(plan.map((planned) => [planned.id, fresh.get(planned.id) ?? before.get(planned.id)!]));
    const ended = [...before].filter(([id, { provider }]) => this.#running.get(id)?.provider !== provider);
    for (const [, { provider }] of ended) events.onRemoved(provider);
    for (const { provider } of fresh.values()) events.onAdded(provider);
    for (const { provider } of fresh.values()) provider.open();
    await Promise.all(ended.map(([, { provider }]) => this.#close(provider)));
    return {
      added: [...fresh.keys()].filter((id) => !before.has(id)),
      changed: [...fresh.keys()].filter((id) => before.has(id)),
      removed: ended.map(([id]) => id).filter((id) => !this.#running.has(id)),
    };
  }

  /** Returns the changes that `apply` would make. */
  changesTo(plan: readonly PlannedSource[]): SourceChanges {
    const wanted = new Set(plan.map(({ id }) => id));
    const fresh = plan.filter(({ id, key }) => this.#running.get(id)?.key !== key).map(({ id }) => id);
    return {
      added: fresh.filter((id) => !this.#running.has(id)),
      changed: fresh.filter((id) => this.#running.has(id)),
      removed: [...this.#running.keys()].filter((id) => !wanted.has(id)),
    };
  }

  /** Marks a source, so that the next `apply` creates it again. Returns false if there is no such source. */
  markChanged(id: string): boolean {
    const running = this.#running.get(id);
    if (running) this.#running.set(id, { ...running, key: CHANGED_KEY });
    return running !== undefined;
  }

  /**
   * Reads the lists of a source again. Resolves to false if there is no such source, or if its provider reads the lists
   * before every listing anyway. Rejects with a `FailError`.
   */
  async refresh(id: string, signal: AbortSignal): Promise<boolean> {
    const provider = this.find(id);
    if (!provider?.refresh) return false;
    await provider.refresh(signal);
    return true;
  }

  /**
   * Downloads the broken install of a source again. Resolves to false if the source downloads nothing. Rejects with a
   * `FailError`.
   */
  async mend(id: string, signal: AbortSignal): Promise<boolean> {
    const provider = this.find(id);
    if (!provider?.mend) return false;
    await provider.mend(signal);
    return true;
  }

  async close(): Promise<void> {
    const running = [...this.#running.values()];
    this.#running = new Map();
    await Promise.all(running.map(({ provider }) => this.#close(provider)));
  }

  async #createFresh(plan: readonly PlannedSource[]): Promise<Map<string, RunningSource>> {
    const wanted = plan.filter((planned) => this.#running.get(planned.id)?.key !== planned.key);
    const made = await Promise.allSettled(
      wanted.map(async (planned) => [planned.id, { key: planned.key, provider: await planned.create() }] as const),
    );
    const failed = made.find((result) => result.status === "rejected");
    const fresh = new Map(made.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
    if (!failed) return fresh;
    await Promise.all([...fresh.values()].map(({ provider }) => this.#close(provider)));
    throw failed.reason;
  }

  async #close(provider: Provider): Promise<void> {
    try {
      await provider.close();
    } catch (error) {
      this.#logger.error("A source did not end cleanly.", { source: provider.source.id, error: messageOf(error) });
    }
  }
}
