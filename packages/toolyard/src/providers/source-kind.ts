import type { Client } from "../core/calls/call.ts";
import type { ListingShape } from "../core/sources/listing-shape.ts";
import { OptionError } from "../core/errors.ts";
import type { Sections } from "../core/options/option-schema.ts";
import type { InnerHub } from "../core/calls/inner-hub.ts";
import type { Models } from "../core/ports/models.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { Provider } from "../core/sources/provider.ts";
import type { ProviderKind } from "../core/sources/provider-kinds.ts";
import type { SignInDesk } from "../core/ports/sign-in-desk.ts";
import type { OutageReport, Source, ToolLimits } from "../core/sources/records.ts";
import type { RequestIds } from "../upstream/connection/exchange.ts";
import type { Installs } from "./installs.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** Where a configuration is used. */
export interface Place {
  /** What relative paths count from. */
  readonly folder: string;
  /** A program registers tools of its own, whatever the configuration says. */
  readonly isHosted?: boolean;
  /** A door is open through which anybody on the network may call, whatever the configuration says by now. */
  readonly isForAll?: boolean;
}

/** What any source may be made with. A kind that needs more says so in its `make`, and the hub has it. */
export interface SourceServices {
  readonly logger: Logger;
  readonly innerHub: InnerHub;
  /** The configured models that tools may use. */
  readonly models: Models;
  /** Where code is run, as it is configured now. */
  readonly sandbox: () => Pick<Sandbox, "options" | "run">;
  /** Where last known lists are kept; absent: they are not. */
  readonly cacheFolder?: string;
  /** Where downloads of servers are kept book of; absent: nothing is downloaded before a start. */
  readonly installsFolder?: string;
  /** Where sign-ins to servers elsewhere are kept; absent: nobody can sign in. */
  readonly vaultFolder?: string;
  /** Where such sign-ins meet the hub's own pages; absent: it has none. */
  readonly desk?: SignInDesk;
  /** Installs what tools of folders need. */
  readonly installs?: () => Promise<Installs>;
  /** Where environments lie that headers of scripts ask for. */
  readonly environmentsFolder?: string;
  /** How long lists and bare names wait for a source that was never listed, counted from its start. */
  readonly coldWaitMs: number;
  /** Whether a text that a source wrote holds none of the source's own secrets. */
  readonly isSecretFree: (source: string, text: string) => boolean;
  /** Has an owner's secrets shown nowhere from now on, in place of those it had before. */
  readonly hideFor: (owner: { readonly source: string }, secrets: readonly string[]) => void;
  /** The hub's own environment, for proxies and certificates. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The era of the first client of a pipe. */
  readonly firstCallerEra?: Promise<Client["era"]>;
  /** Counts the requests of a client with one server, over all its connections. */
  readonly requestIds?: RequestIds | undefined;
  /** True: upstreams connect when they are needed; false: at once; undefined: as each is configured. */
  readonly lazy: boolean | undefined;
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
 * One way to have sources: each folder here exports one, and `hub/source-kinds.ts` lists them. Its options are known at
 * once; its code is loaded when a source is made.
 */
export interface SourceKind<S extends Sections, Config, Options, Services> {
  /** Its row in `core/sources/provider-kinds.ts`. */
  readonly kind: ProviderKind;
  /** Its sections of the configuration. Tables that several kinds share, such as `mcp`, are joined. */
  readonly schema: S;
  /** Which sources a checked configuration wants, options filled in. Throws an `OptionError` that names the section. */
  resolve(config: Config, place: Place): readonly ResolvedSource<Options>[];
  make(source: Source, options: Options, services: Services): Promise<Provider>;
}

/** A kind as the hub uses it, who does not know its options. */
export interface DefinedKind<S extends Sections, Config, Services> {
  readonly kind: ProviderKind;
  readonly schema: S;
  readonly wanted: (config: Config, place: Place) => readonly WantedSource<Services>[];
}

export function defineSourceKind<S extends Sections, Config, Options, Services>(
  given: SourceKind<S, Config, Options, Services>,
): DefinedKind<S, Config, Services> {
  const { kind, schema } = given;
  const wanted = (config: Config, place: Place): readonly WantedSource<Services>[] =>
    given.resolve(config, place).map((one) => ({
      ...one,
      make: (source, services) => given.make(source, one.options, services),
    }));
  return Object.freeze({ kind, schema, wanted });
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
