import type { Call, Principal, ToolMode } from "../calls/call.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";
import type { Outcome } from "../calls/outcome.ts";
import type { LogMessage, ProviderStatus, ResourceUpdate } from "../sources/provider.ts";
import type { Problem, Source, SourceFeatures } from "../sources/records.ts";

/** Caller and tool mode for which a list is rendered. A call has both members, so it can be used as a view. */
export interface View {
  readonly mode: ToolMode;
  readonly principal: Principal;
}

export type ListKind = "tools" | "resources" | "templates" | "prompts";

/**
 * One list as one view shows it. `entries` have the MCP form; `json` is the text of their array, serialised once. Both
 * are shared and must not be changed.
 */
export interface RenderedList {
  readonly entries: readonly JsonObject[];
  /** JSON text of `entries`. */
  readonly json: string;
  /** The bytes of `json`, if they are cached. */
  readonly bytes?: Buffer;
  /** Version of the content. It changes if and only if the content changes. */
  readonly version: string;
  /**
   * True if the list contains entries for this caller only, so that intermediaries must not cache it for others.
   * @default false
   */
  readonly isPrivate?: boolean;
  /** Number of changes that the listed sources have announced, even if the content stayed the same. @default 0 */
  readonly announcements?: number;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Instructions of the hub and of its sources, limited in length. */
  readonly instructions?: string;
  readonly features: SourceFeatures;
  /** True if the facts contain data for this caller only. @default false */
  readonly isPrivate?: boolean;
  /** Further members of `serverInfo`, taken from the source if the hub has only one. */
  readonly about?: JsonObject;
  /**
   * Capabilities that the sources' servers declare. If the hub implements a capability itself, its own value has
   * precedence.
   */
  readonly capabilities?: JsonObject;
}

/**
 * A list changed in at least one view, or a source announced a change. Endpoints compare the versions and announcements
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
  /** False to use the known lists without waiting for sources. @default true */
  readonly waits?: boolean;
}

/** Lists and facts of the hub, and notifications of their changes. */
export interface HubContent {
  /**
   * Returns the current list. Waits for sources on disk. Waits for a limited time for upstreams that were never listed.
   * If `waits` is false, returns the known list without waiting.
   */
  list(kind: ListKind, view: View, options?: WaitOptions): Promise<RenderedList>;
  /**
   * Returns the facts about the hub. For a caller with narrowed rights, they cover only the sources that it may use.
   * Waits like `list`.
   */
  facts(principal: Principal, options?: WaitOptions): Promise<ServerFacts>;
  sources(): readonly SourceReport[];
  readonly events: HubEvents;
}

/** Calls of tools, prompts and resources. */
export interface HubCalls {
  call(call: Call): Promise<Outcome>;
  /**
   * Returns true if a method outside MCP's core is forwarded to the only source, as a call with the method `extension`.
   * Returns false for callers with narrowed rights, because rights cannot be checked for such a method.
   */
  passesOn(method: string, principal: Principal): boolean;
}

/** State that the hub keeps for lasting connections of its callers. */
export interface HubConnections {
  /**
   * Emits `resourceUpdated` for `uri` until the resolved function is called. Rejects with a `FailError` if no source
   * offers the URI, or if its source does not support subscriptions.
   */
  subscribe(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>>;
  /**
   * Sets the lowest level of log messages for a caller. Sources are set to the lowest level that any caller requests.
   */
  setLogLevel(connection: string, level: string): Promise<void>;
  rootsChanged(connection: string): void;
  /** Releases the resources of a lasting connection that has ended. */
  release(connection: string): void;
}

/** Functions of the hub that endpoints use. A part that needs few functions names one of the three interfaces. */
export interface HubPort extends HubContent, HubCalls, HubConnections {}

export interface HubEvents {
  readonly listsChanged: Emitter<ListChange>;
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}
