import type { Call, Principal, ToolMode } from "../calls/call.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";
import type { Outcome } from "../calls/outcome.ts";
import type { LogMessage, ProviderStatus, ResourceUpdate } from "../sources/provider.ts";
import type { Problem, Source, SourceFeatures } from "../sources/records.ts";

/** The caller and the tool mode of a list. A call is a view too. */
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
  /** The same as bytes, if they are cached. */
  readonly bytes?: Buffer;
  /** Changes exactly when the content does. */
  readonly version: string;
  /**
   * True if some of it is for this caller only, so that intermediaries must not cache it for others. @default false
   */
  readonly isPrivate?: boolean;
  /** Number of changes that the listed sources have announced, whether or not the content differed. @default 0 */
  readonly announcements?: number;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Texts of the hub and of its sources, limited in length. */
  readonly instructions?: string;
  readonly features: SourceFeatures;
  /** True if some of it is for this caller only. @default false */
  readonly isPrivate?: boolean;
  /** Further members of `serverInfo`: the server info of the only source. */
  readonly about?: JsonObject;
  /** Capabilities that the sources' servers declare; for known ones the hub's own values take precedence. */
  readonly capabilities?: JsonObject;
}

/**
 * A list changed in at least one view, or a source announced a change. Endpoints compare versions and announcements of
 * their callers' views to decide which clients to notify.
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
  /** False: returns the known definitions without waiting. @default true */
  readonly waits?: boolean;
}

/** The functions of the hub that endpoints use. */
export interface HubPort {
  /**
   * Returns the current list: waits for sources that read the disk, and a limited time for upstreams that were never
   * listed. With `waits` false it returns the known ones.
   */
  list(kind: ListKind, view: View, options?: WaitOptions): Promise<RenderedList>;
  call(call: Call): Promise<Outcome>;
  /**
   * Returns whether a method outside MCP's core is forwarded to the only source, as a call with the method `extension`.
   * False for callers with narrowed rights, because rights cannot be checked for such a method.
   */
  passesOn(method: string, principal: Principal): boolean;
  /** For a caller with narrowed rights, only of the sources that it may use. Waits like `list`. */
  facts(principal: Principal, options?: WaitOptions): Promise<ServerFacts>;
  /**
   * Keeps emitting `resourceUpdated` for `uri`. Rejects with a `FailError` if no source offers the URI or its source
   * does not support it.
   */
  subscribe(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>>;
  /** Sets the caller's lowest level of log messages; sources are set to the lowest level that any caller requests. */
  setLogLevel(connection: string, level: string): Promise<void>;
  rootsChanged(connection: string): void;
  /** Releases a lasting connection that has ended. */
  release(connection: string): void;
  readonly events: HubEvents;
  sources(): readonly SourceReport[];
}

export interface HubEvents {
  readonly listsChanged: Emitter<ListChange>;
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}
