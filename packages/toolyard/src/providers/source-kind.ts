import type { ListingShape } from "../core/sources/listing-shape.ts";
import { OptionError } from "../core/errors.ts";
import type { Sections } from "../core/options/option-schema.ts";
import type { Provider } from "../core/sources/provider.ts";
import type { ProviderKind } from "../core/sources/provider-kinds.ts";
import type { OutageReport, Source, ToolLimits } from "../core/sources/records.ts";
import type { ServiceKey, ServicesOf } from "../core/service-key.ts";

/** Where a configuration is used. */
export interface SourcePlace {
  /** What relative paths count from. */
  readonly folder: string;
  /** A program registers tools of its own, whatever the configuration says. */
  readonly isHosted?: boolean;
  /** A door is open through which anybody on the network may call, whatever the configuration says by now. */
  readonly isForAll?: boolean;
  /** Callers have to prove who they are. @default false */
  readonly isGuarded?: boolean;
}

/** A source that the configuration asks for, options filled in. */
export interface ResolvedSource<Options> {
  readonly id: string;
  readonly namespace: string;
  readonly limits?: ToolLimits;
  readonly outage?: OutageReport;
  /** The server is a part of this program. @default false */
  readonly isBundled?: boolean;
  /** @default the list as the source gives it */
  readonly shape?: ListingShape;
  /** What the source is made of, plain data; a reload leaves a source alone while this stays the same. */
  readonly options: Options;
}

/** The same, ready to be made. */
export interface WantedSource<Services> extends ResolvedSource<unknown> {
  make(source: Source, services: Services): Promise<Provider>;
}

/**
 * One way to have sources: each folder here exports one, and a feature lists it (`hub/features.ts`). Its options are
 * known at once; its code is loaded when a source is made.
 */
export interface SourceKind<S extends Sections, Config, Options, Uses extends ServiceKey> {
  /** Its row in `core/sources/provider-kinds.ts`. */
  readonly kind: ProviderKind;
  /** Its sections of the configuration. Tables that several kinds share, such as `mcp`, are joined. */
  readonly schema: S;
  /** Services that its sources are made with. @default none */
  readonly uses?: readonly Uses[];
  /** Which sources a checked configuration wants, options filled in. Throws an `OptionError` that names the section. */
  resolve(config: Config, place: SourcePlace): readonly ResolvedSource<Options>[];
  make(source: Source, options: Options, services: ServicesOf<Uses>): Promise<Provider>;
}

/** A kind as the hub uses it, without its options. */
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

/** Says which entry of a table an option stands in, since the option's own words cannot know. */
export function inEntry<T>(where: string, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof OptionError) throw new OptionError(`${where}: ${error.message}`, { cause: error });
    throw error;
  }
}
