import type { Access, AccessPlan } from "../core/access.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";
import type { GrantRights } from "../core/calls/identity.ts";
import type { ObjectOf, OptionSchema, Sections } from "../core/options/option-schema.ts";
import type { ServiceKey, ServicesOf } from "../core/service-key.ts";
import type { EvidenceSource } from "../catalog/search/likeness/table-search.ts";
import type { Dialect } from "../endpoints/dialect.ts";
import type { EndpointDefinition, Endpoint } from "../endpoints/endpoint.ts";
import type { HttpOptions } from "../http/options.ts";
import type { CallListener } from "../pipeline/ports.ts";
import type { StagePlace } from "../pipeline/stage-place.ts";
import type { DefinedKind, SourcePlace, WantedSource } from "../providers/source-kind.ts";
import type { All } from "./sections.ts";

/** Key of a service that lives as long as the hub, in contrast to a service of one address. */
export type HubKey = ServiceKey<unknown, string, "hub">;

/** A source kind with any sections and services. */
export interface AnyKind extends Pick<DefinedKind<Sections, never, ServiceKey>, "kind" | "schema" | "uses"> {
  readonly wanted: (config: never, place: SourcePlace) => readonly WantedSource<never>[];
}

/** An endpoint kind with any sections and services. */
export interface AnyEndpoint extends Pick<
  EndpointDefinition<Sections, ServiceKey, ServiceKey>,
  "schema" | "paths" | "uses" | "provides"
> {
  readonly wanted: (config: never, taken: readonly string[]) => ((services: never) => Promise<Endpoint>) | undefined;
}

/** Way to authenticate callers. The hub uses the first one whose `plan` returns a plan. */
export interface AccessKind {
  /**
   * Returns the required authentication, or `undefined` if the current configuration does not request it. Throws an
   * `OptionError`.
   */
  plan(): AccessPlan | undefined;
  /**
   * Creates the access. Called once for each address at which the hub is served. `grantRights` returns the rights of
   * identities by the current configuration.
   */
  create(http: HttpOptions, grantRights: GrantRights): Access;
}

/** Contributions of a started feature to a hub. All members except `services` are optional. */
export interface Contribution {
  /** Called at the end of every call. It must not throw or block. */
  readonly onCall?: CallListener;
  /** Called at the end of every call, including inner calls: those of code, of `execute_tool` and of the agent. */
  readonly onEveryCall?: CallListener;
  /** Additional way to authenticate callers. */
  readonly access?: AccessKind;
  /**
   * Returns the rights of identities, for example by roles. Only the first feature with this member is used. @default
   * all rights
   */
  readonly grantRights?: GrantRights;
  /** Stages of the pipeline, loaded by the first call. */
  readonly stages?: readonly StagePlace[];
  /** Loads further JSON-RPC dialects, which endpoints try after MCP. Called by the first request for them. */
  readonly dialects?: () => Promise<readonly Dialect[]>;
  /**
   * Returns the source of search evidence other than words, such as embeddings, if the current configuration has one.
   */
  readonly evidence?: () => Promise<EvidenceSource> | undefined;
  /** Closes everything that the feature opened. Features are closed in the reverse order of their start. */
  close?(): Promise<void>;
}

/** Contribution with the services that the feature has declared. */
export type StartedFeature<Provides extends HubKey> = [Provides] extends [never]
  ? Contribution
  : Contribution & { readonly services: ServicesOf<Provides> };

/** Parts of a feature: one capability of the hub, in its own folder. */
export interface FeatureParts<S, Reads, Uses extends HubKey, Provides extends HubKey, Kinds, Endpoints> {
  readonly name: string;
  /** Sections of the configuration that the feature itself reads, besides those of its source kinds and endpoints. */
  readonly schema?: S;
  /** True if HTTP endpoints must be opened again when a section of this feature changes. @default false */
  readonly changesEndpoints?: boolean;
  /** Services that `start` receives. */
  readonly uses?: readonly Uses[];
  /** Services that `start` returns. */
  readonly provides?: readonly Provides[];
  readonly sources?: Kinds;
  readonly endpoints?: Endpoints;
  /** Throws an `OptionError` if the feature cannot work with the configuration. */
  check?(config: Reads): void;
  /**
   * Loads code that the feature needs with this configuration. Called before the features start and before each change
   * of the configuration, and awaited. A feature that needs no further code has no `prepare`.
   */
  prepare?(config: Reads, variables: EnvironmentVariables): Promise<void>;
  /**
   * Starts the feature. Called once per hub, in the order of the list. `config` returns the current configuration.
   * Large modules must be loaded later, on demand.
   */
  start?(services: ServicesOf<Uses>, config: () => Reads): StartedFeature<Provides>;
}

/** Feature in a list of features. */
export interface Feature<
  S extends Sections = Sections,
  Reads = never,
  StartUses extends ServiceKey = never,
  LaterUses extends ServiceKey = never,
  Provides extends ServiceKey = never,
> {
  readonly name: string;
  readonly schema: Sections;
  readonly changesEndpoints?: boolean;
  readonly uses: readonly ServiceKey[];
  readonly provides: readonly ServiceKey[];
  readonly sources: readonly AnyKind[];
  readonly endpoints: readonly AnyEndpoint[];
  readonly check?: (config: never) => void;
  readonly prepare?: (config: never, variables: EnvironmentVariables) => Promise<void>;
  readonly start?: (services: never, config: () => never) => Contribution;
  /** Types of the feature. They exist only for the compiler. */
  readonly "~types"?: {
    readonly sections: S;
    readonly reads: (config: Reads) => void;
    readonly startUses: StartUses;
    readonly laterUses: LaterUses;
    readonly provides: Provides;
  };
}

type KeysOf<K> = K extends { readonly uses: readonly (infer U)[] } ? Extract<U, ServiceKey> : never;
type ProvidedOf<K> = K extends { readonly provides: readonly (infer U)[] } ? Extract<U, ServiceKey> : never;
type SchemaOf<K> = K extends { readonly schema: infer S extends Sections } ? S : never;
type ReadsOf<K> = K extends { readonly wanted: (config: infer C, ...rest: never) => unknown } ? C : unknown;
type ElementOf<T> = T extends readonly (infer E)[] ? E : never;

/** Defines a feature. Its type contains the keys that it uses and provides, which `featureList` checks. */
export function defineFeature<
  const S extends Sections = {},
  Reads = unknown,
  const Uses extends HubKey = never,
  const Provides extends HubKey = never,
  const Kinds extends readonly AnyKind[] = readonly [],
  const Endpoints extends readonly AnyEndpoint[] = readonly [],
>(
  parts: FeatureParts<S, Reads, Uses, Provides, Kinds, Endpoints>,
): Feature<
  S | SchemaOf<ElementOf<Kinds>> | SchemaOf<ElementOf<Endpoints>>,
  Reads | ReadsOf<ElementOf<Kinds>>,
  Uses,
  KeysOf<ElementOf<Kinds>> | KeysOf<ElementOf<Endpoints>>,
  Provides | ProvidedOf<ElementOf<Endpoints>>
> {
  const { schema = {}, uses = [], provides = [], sources = [], endpoints = [], ...rest } = parts;
  return Object.freeze({ ...rest, schema, uses, provides, sources, endpoints }) as never;
}

export type AnyFeature = Feature<Sections, never, ServiceKey, ServiceKey, ServiceKey>;

interface FeatureTypes {
  readonly "~types"?: {
    readonly sections: unknown;
    readonly startUses: unknown;
    readonly laterUses: unknown;
    readonly provides: unknown;
  };
}
// An indexed access type is used, because `infer` would reduce the members of a union to their common supertype.
type TypesOf<F extends FeatureTypes> = NonNullable<F["~types"]>;
type StartUsesOf<F> = F extends FeatureTypes ? TypesOf<F>["startUses"] : never;
type LaterUsesOf<F> = F extends FeatureTypes ? TypesOf<F>["laterUses"] : never;
export type ProvidedBy<F> = F extends FeatureTypes ? TypesOf<F>["provides"] : never;
type SectionsOf<F> = F extends FeatureTypes ? TypesOf<F>["sections"] : never;

/**
 * Type that replaces a feature in the list if no earlier feature provides a service that it uses. `missing` names the
 * service.
 */
export interface MissingService<Keys> {
  readonly missing: Keys;
}

/**
 * Keys that a feature lacks. Its start may use services of earlier features; its source kinds and endpoints may also
 * use its own.
 */
type MissingIn<F, Known> = Exclude<StartUsesOf<F>, Known> | Exclude<LaterUsesOf<F>, Known | ProvidedBy<F>>;

/** List type in which each feature that lacks a service is replaced by `MissingService`. */
export type Complete<F extends readonly unknown[], Known> = F extends readonly [infer First, ...infer Rest]
  ? readonly [
      [MissingIn<First, Known>] extends [never] ? First : MissingService<MissingIn<First, Known>>,
      ...Complete<Rest, Known | ProvidedBy<First>>,
    ]
  : readonly [];

/** Type of the configuration that all features of a list read. */
export type ConfigOf<F> = All<SectionsObjects<SectionsOf<F>>>;
type SectionsObjects<S> = S extends Readonly<Record<string, OptionSchema>> ? ObjectOf<S> : never;
