import type { ListingShape } from "../core/sources/listing-shape.ts";
import { OptionError } from "../core/errors.ts";
import type { Sections } from "../core/options/option-schema.ts";
import type { Provider } from "../core/sources/provider.ts";
import type { ProviderKind } from "../core/sources/provider-kinds.ts";
import type { OutageReport, Source, ToolLimits } from "../core/sources/records.ts";
import type { ServiceKey, ServicesOf } from "../core/service-key.ts";

/** Circumstances in which a configuration is used. */
export interface SourcePlace {
  /** Folder at which relative paths start. */
  readonly folder: string;
  /** True if a program registers its own tools, so that the source exists even if the configuration names none. */
  readonly isHosted?: boolean;
  /**
   * True if an endpoint is open through which every client on the network may call, now or with a later configuration.
   */
  readonly isForAll?: boolean;
  /** True if callers must authenticate. @default false */
  readonly isGuarded?: boolean;
}

/** A source that the configuration requests, with resolved options. */
export interface ResolvedSource<Options> {
  readonly id: string;
  readonly namespace: string;
  readonly limits?: ToolLimits;
  readonly outage?: OutageReport;
  /** True if the server is part of this program. @default false */
  readonly isBundled?: boolean;
  /** Changes of the source's lists. @default the lists as the source returns them */
  readonly shape?: ListingShape;
  /** Plain data. A reload keeps a source while its options are unchanged. */
  readonly options: Options;
}

/** A requested source that is ready to be created. */
export interface WantedSource<Services> extends ResolvedSource<unknown> {
  make(source: Source, services: Services): Promise<Provider>;
}

/**
 * One kind of source. Each subfolder of `providers/` exports one, and a feature lists it (`hub/features.ts`). Its
 * options are loaded at start, its code when a source is created.
 */
export interface SourceKind<S extends Sections, Config, Options, Uses extends ServiceKey> {
  /** Row of this kind in `core/sources/provider-kinds.ts`. */
  readonly kind: ProviderKind;
  /**
   * Sections of the configuration that this kind defines. Tables that several kinds share, such as `mcp`, are merged.
   */
  readonly schema: S;
  /** Services that the sources use. @default none */
  readonly uses?: readonly Uses[];
  /**
   * Returns the sources that a checked configuration requests, with resolved options. Throws an `OptionError` that
   * names the section.
   */
  resolve(config: Config, place: SourcePlace): readonly ResolvedSource<Options>[];
  make(source: Source, options: Options, services: ServicesOf<Uses>): Promise<Provider>;
}

/** A source kind as the hub uses it, without the type of its options. */
export interface DefinedKind<S extends Sections, Config, Uses extends ServiceKey> {
  readonly kind: ProviderKind;
  readonly schema: S;
  readonly uses: readonly Uses[];
  readonly wanted: (config: Config, place: SourcePlace) => readonly WantedSource<ServicesOf<Uses>>[];
}

export function defineSourceKind<S extends Sections, Config, Options, const Uses extends ServiceKey = never>(
  given: SourceKind<S, Config, Options, Uses>,
): DefinedKind<S, Config, Uses> {
  const { kind, schema, uses = [] } = given;
  const wanted: DefinedKind<S, Config, Uses>["wanted"] = (config, place) =>
    given.resolve(config, place).map((one) => ({
      ...one,
      make: (source, services) => given.make(source, one.options, services),
    }));
  return Object.freeze({ kind, schema, uses, wanted });
}

/** Runs `resolve`. If it throws an `OptionError`, prefixes the message with `where`, the entry of the table. */
export function inEntry<T>(where: string, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof OptionError) throw new OptionError(`${where}: ${error.message}`, { cause: error });
    throw error;
  }
}
