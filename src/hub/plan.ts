import type { UnusableSource } from "../config/load.ts";
import type { Client } from "../core/call.ts";
import type { Caller, Logger, Models } from "../core/ports.ts";
import type { Provider } from "../core/provider.ts";
import type { ProviderKind, ServiceName, Source, ToolLimits } from "../core/records.ts";
import type { BuiltinPorts } from "../providers/builtin/ports.ts";
import type { ModulesHost } from "../providers/modules/host.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { PlannedSource } from "./source-set.ts";
import { UnusableProvider } from "./unusable-provider.ts";

/** What sources are made with. */
export interface SourceServices {
  readonly logger: Logger;
  readonly caller: Caller;
  /** The configured models that tools may use. */
  readonly models: Models;
  readonly builtin: BuiltinPorts;
  /** Where code is run, as it is configured now. */
  readonly sandbox: () => Pick<Sandbox, "options" | "run">;
  /** Where last known lists are kept; absent: they are not. */
  readonly cacheFolder?: string;
  /** How long lists and bare names wait for a source that was never listed, counted from its start. */
  readonly coldWaitMs: number;
  /** Whether a text holds none of the configuration's secrets. */
  readonly isSecretFree: (text: string) => boolean;
  /** Has an owner's secrets shown nowhere from now on, in place of those it had before. */
  readonly hideFor: (owner: object, secrets: readonly string[]) => void;
  /** The hub's own environment, for proxies and certificates. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The program that registers tools of its own. */
  readonly modulesHost?: ModulesHost;
  /** The era of the first client of a pipe. */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** True: upstreams connect when they are needed; false: at once; undefined: as each is configured. */
  readonly lazy: boolean | undefined;
}

/** Which sources a command wants; the others are not made. */
export type SourceFilter = (source: { readonly id: string; readonly kind: ProviderKind }) => boolean;

/** A source that the configuration asks for. */
export interface WantedSource {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly namespace: string;
  readonly limits?: ToolLimits;
  readonly service?: ServiceName;
  /** What the source is made of; a reload leaves a source alone while this stays the same. */
  readonly options: unknown;
  make(source: Source, services: SourceServices): Promise<Provider>;
}

/** Turns what a configuration wants into sources that can be made. Keeps each source's place over reloads. */
export class Planner {
  readonly #services: SourceServices;
  readonly #only: SourceFilter;
  readonly #places = new Map<string, number>();

  constructor(services: SourceServices, only: SourceFilter) {
    this.#services = services;
    this.#only = only;
  }

  plan(wanted: readonly WantedSource[], unusable: readonly UnusableSource[]): readonly PlannedSource[] {
    const usable = wanted.map((one) => this.#usable(one));
    const left = unusable.map(({ id, kind, reason }): PlannedSource => {
      const source = this.#source({ id, kind, namespace: id });
      return {
        id,
        kind,
        key: JSON.stringify([kind, reason]),
        create: () => Promise.resolve(new UnusableProvider(source, reason)),
      };
    });
    return [...usable, ...left].filter(this.#only);
  }

  #usable(wanted: WantedSource): PlannedSource {
    const { id, kind, namespace, options } = wanted;
    const source = this.#source(wanted);
    const services = { ...this.#services, logger: this.#services.logger.with({ source: id }) };
    return { id, kind, key: JSON.stringify([kind, namespace, options]), create: () => wanted.make(source, services) };
  }

  // A source that goes must not move the others, or they would have to be made anew; one that comes later stands behind
  // them.
  #source({
    id,
    kind,
    namespace,
    limits,
    service,
  }: Pick<WantedSource, "id" | "kind" | "namespace" | "limits" | "service">): Source {
    const order = this.#places.get(id) ?? this.#places.size;
    this.#places.set(id, order);
    return Object.freeze({
      id,
      kind,
      namespace,
      order,
      ...(limits ? { limits } : {}),
      ...(service ? { service } : {}),
    });
  }
}
