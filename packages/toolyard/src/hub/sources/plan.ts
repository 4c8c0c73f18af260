import type { UnusableSource } from "../../config/source-tables.ts";
import type { ProviderKind } from "../../core/sources/provider-kinds.ts";
import type { Source } from "../../core/sources/records.ts";
import type { SourcePlace, ResolvedSource, WantedSource } from "../../providers/source-kind.ts";
import type { AnyFeature, AnyKind } from "../../kernel/feature.ts";
import { sourceKindsOf } from "../../kernel/feature-sections.ts";
import { getService, type Services } from "../../kernel/start-features.ts";
import { ACCESS_PLAN, LOGGER } from "../../core/services.ts";
import type { LoadedHubConfig } from "../schema.ts";
import type { PlannedSource } from "./source-set.ts";
import { UnusableProvider } from "./unusable-provider.ts";

/** Returns true if a command needs a source. The other sources are not created. */
export type SourceFilter = (source: { readonly id: string; readonly kind: ProviderKind }) => boolean;

interface PlannedWithSource extends PlannedSource {
  readonly source: Source;
}

interface UsableKind extends Pick<AnyKind, "kind"> {
  readonly wanted: (config: object, place: SourcePlace) => readonly WantedSource<Services>[];
}

/** Derives the sources from a configuration. A source keeps its position when the configuration is reloaded. */
export class Planner {
  readonly #features: readonly AnyFeature[];
  readonly #kinds: readonly UsableKind[];
  readonly #services: Services;
  readonly #only: SourceFilter;
  readonly #places = new Map<string, number>();
  #sources: readonly Source[] = [];

  constructor(features: readonly AnyFeature[], services: Services, only: SourceFilter) {
    this.#features = features;
    // `featureList` has checked that each kind gets the services that it uses and reads only its own sections.
    this.#kinds = sourceKindsOf(features) as readonly unknown[] as readonly UsableKind[];
    this.#services = services;
    this.#only = only;
  }

  /** Sources of the last plan, including those that `only` excluded. Their names stay reserved. */
  get sources(): readonly Source[] {
    return this.#sources;
  }

  /** Returns all configured sources, by kind. Throws an `OptionError` that names the section. */
  plan({ tree, unusable }: LoadedHubConfig, given: SourcePlace): readonly PlannedSource[] {
    for (const { check } of this.#features) (check as ((config: object) => void) | undefined)?.(tree);
    const place = { ...given, isGuarded: getService(this.#services, ACCESS_PLAN)(tree.server).isGuarded };
    const usable = this.#kinds.flatMap(({ kind, wanted }) => wanted(tree, place).map((one) => this.#usable(kind, one)));
    const planned = [...usable, ...unusable.map((one) => this.#leftOut(one))];
    this.#sources = planned.map(({ source }) => source);
    return planned.filter(this.#only);
  }

  /** Returns a plan like `plan`, but reserves neither names nor positions. */
  draft(config: LoadedHubConfig, given: SourcePlace): readonly PlannedSource[] {
    return new Planner(this.#features, this.#services, this.#only).plan(config, given);
  }

  #usable(kind: ProviderKind, wanted: WantedSource<Services>): PlannedWithSource {
    const { id, namespace, limits, shape, options } = wanted;
    const source = this.#source(kind, wanted);
    const logger = getService(this.#services, LOGGER).with({ source: id });
    const services = { ...this.#services, [LOGGER.id]: logger };
    const key = JSON.stringify([kind, namespace, limits, shape, options]);
    return { id, kind, key, source, create: () => wanted.make(source, services) };
  }

  #leftOut({ id, kind, reason }: UnusableSource): PlannedWithSource {
    const source = this.#source(kind, { id, namespace: id });
    return {
      id,
      kind,
      source,
      key: JSON.stringify([kind, reason]),
      create: () => Promise.resolve(new UnusableProvider(source, reason)),
    };
  }

  // A new source is placed after the existing ones, and positions of removed sources stay empty: a source whose
  // position changes would be recreated.
  #source(
    kind: ProviderKind,
    { id, namespace, limits, outage, isBundled, shape }: Omit<ResolvedSource<unknown>, "options">,
  ): Source {
    const order = this.#places.get(id) ?? this.#places.size;
    this.#places.set(id, order);
    return Object.freeze({
      id,
      kind,
      namespace,
      order,
      ...(limits && { limits }),
      ...(outage && { outage }),
      ...(isBundled && { isBundled }),
      ...(shape && { shape }),
    });
  }
}
