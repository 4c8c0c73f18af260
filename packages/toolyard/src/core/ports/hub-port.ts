import type { Call, Principal, ToolMode } from "../calls/call.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";
import type { Outcome } from "../calls/outcome.ts";
import type { LogMessage, ProviderStatus, ResourceUpdate } from "../sources/provider.ts";
import type { Problem, Source, SourceFeatures } from "../sources/records.ts";

/** Whose view of things, and how much of it. A call is one, too. */
export interface View {
  readonly mode: ToolMode;
  readonly principal: Principal;
}

export type ListKind = "tools" | "resources" | "templates" | "prompts";

/**
 * One list as one view shows it. `entries` are wire shapes; `json` is their array serialised once. Both are shared:
 * read only.
 */
export interface RenderedList {
  readonly entries: readonly JsonObject[];
  /** The JSON text of `entries`. */
  readonly json: string;
  /** The same as bytes, where they are kept. */
  readonly bytes?: Buffer;
  /** Changes exactly when the content does. */
  readonly version: string;
  /** Some of it is for this one caller, so nobody on the way may keep it for others. @default false */
  readonly isPrivate?: boolean;
  /** How many changes of it the listed sources have announced, whether or not its content differed. @default 0 */
  readonly announcements?: number;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** The hub's own words and those of its sources, bounded. */
  readonly instructions?: string;
  readonly features: SourceFeatures;
  /** Some of it is for this one caller. @default false */
  readonly isPrivate?: boolean;
  /** Further members of `serverInfo`: what the only source's server says of itself. */
  readonly about?: JsonObject;
  /** Capabilities that the sources' servers declare; the hub's own words for those that it knows come before them. */
  readonly capabilities?: JsonObject;
}

/**
 * A list changed in at least one view, or a source announced that it did. Endpoints compare versions and announcements
 * of their callers' views to decide which clients to notify.
 */
export interface ListChange {
  readonly lists: readonly ListKind[];
}

export interface SourceReport {
  readonly source: Source;
  readonly status: ProviderStatus;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly problems: readonly Problem[];
}

export interface WaitOptions {
  /** False: what is known is the answer. @default true */
  readonly waits?: boolean;
}

/** What a door may ask of the hub. */
export interface HubPort {
  /**
   * Fresh as of this moment: waits for the sources that look at the disk, and a bounded time for upstreams never listed
   * yet. With `waits` false it is what is known.
   */
  list(kind: ListKind, view: View, options?: WaitOptions): Promise<RenderedList>;
  call(call: Call): Promise<Outcome>;
  /**
   * Whether a method that MCP's core does not have goes on to the only source, as a call with the method `extension`.
   * False for callers with narrowed rights, which cannot be held against such a method.
   */
  passesOn(method: string, principal: Principal): boolean;
  /** For a caller with narrowed rights, of the sources that it may use something of. Waits as `list` does. */
  facts(principal: Principal, options?: WaitOptions): Promise<ServerFacts>;
  /**
   * Keeps `resourceUpdated` coming for `uri`. Rejects with a `FailError` when nobody offers the URI or its source
   * cannot.
   */
  subscribe(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>>;
  /**
   * A caller wants log messages from this level on; the sources are asked for the most talkative level anybody wants.
   */
  setLogLevel(connection: string, level: string): Promise<void>;
  rootsChanged(connection: string): void;
  /** The lasting connection is over. */
  release(connection: string): void;
  readonly events: HubEvents;
  sources(): readonly SourceReport[];
}

export interface HubEvents {
  readonly listsChanged: Emitter<ListChange>;
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}
