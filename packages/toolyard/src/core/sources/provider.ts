import type { Call, Principal } from "../calls/call.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";
import type { LinkKey } from "../calls/link-key.ts";
import type { Outcome } from "../calls/outcome.ts";
import type { Listing, Source, ToolRecord, ResourceRecord, TemplateRecord, PromptRecord } from "./records.ts";

/** A call that the pipeline has admitted and resolved: with its record, and validated arguments with defaults. */
export interface ResolvedCall extends Call {
  readonly record: CallTarget;
}

export type CallTarget =
  | { readonly type: "tool"; readonly tool: ToolRecord }
  | {
      readonly type: "resource";
      readonly uri: string;
      readonly resource?: ResourceRecord;
      readonly template?: TemplateRecord;
    }
  | { readonly type: "prompt"; readonly prompt: PromptRecord }
  | {
      readonly type: "completion";
      readonly ref: JsonObject;
      readonly prompt?: PromptRecord;
      readonly template?: TemplateRecord;
    }
  | { readonly type: "extension"; readonly method: string };

export type ProviderState = "starting" | "ready" | "degraded" | "down" | "needs_authorisation" | "disabled" | "closed";

/**
 * A download that a source waits for before it can start: `npx`, `uvx` and similar programs download at their first
 * start.
 */
export interface Installation {
  /** The package, as the configuration names it: `npx @scope/server`. */
  readonly package: string;
  /** Start time, ISO 8601. */
  readonly since: string;
  /** Current progress: the last line that the program wrote, or the source with the awaited download. */
  readonly waitsFor: string;
  /** Process that downloads; ending it ends the download. */
  readonly pid?: number;
}

/** An unusable earlier download: an install that was interrupted. */
export interface BrokenInstall {
  readonly package: string;
  /** Folders that a repair removes. */
  readonly folders: readonly string[];
  /** True if it was repaired before and failed again. */
  readonly mended: boolean;
}

/** An install that tools of a source need before they run. */
export interface Preparation {
  /** File that requires it. */
  readonly file: string;
  /** Kind for display: `header`, `requirements.txt`, `package.json`. */
  readonly kind: string;
  /** Names of the tools, as the source has them. */
  readonly tools: readonly string[];
  /** Target folder. */
  readonly target: string;
  /** Commands that are run, one per line; empty if `problem` explains why it is impossible. */
  readonly commands: readonly string[];
  readonly problem?: string;
  /** Information for the user before agreeing. */
  readonly note?: string;
  readonly isReady: boolean;
  /** Returns the current progress while this process installs it. */
  progress(): Installation | undefined;
  /** Installs it, or waits for the running install. Rejects with a `FailError`. */
  run(signal: AbortSignal): Promise<void>;
}

/** State of one source for `status` and `check`. Holds no secret. */
export interface ProviderStatus {
  readonly state: ProviderState;
  /** One sentence on the most recent failure. */
  readonly lastError?: string;
  /** Last lines of a child's stderr. */
  readonly stderr?: readonly string[];
  readonly restarts?: number;
  readonly pid?: number;
  readonly since?: string;
  /** Present while the source, or a dependency of its tools, is downloaded. */
  readonly installing?: Installation;
  /** Milliseconds of a running start that do not count because the machine was busy. */
  readonly delayedMs?: number;
  /** True while lists that the source announced as changed are about to be read. @default false */
  readonly isListing?: boolean;
  /** Present while a download cannot be used; see `Provider.mend`. */
  readonly broken?: BrokenInstall;
  /** Free facts: protocol revision, server name, endpoint, folder. */
  readonly info?: JsonObject;
}

/** A source that was never listed and has not failed either. */
export interface ColdStart {
  /** Time until which calls wait that may belong to it, on the clock of `performance.now()`. */
  readonly waitUntil: number;
  /** Resolves once it was listed, failed, or was closed. Never rejects. */
  readonly over: Promise<void>;
}

export interface ListingWish {
  /** For a call to something listed: expired lists, or lists before an announced change, are enough. @default false */
  readonly mayBeOld?: boolean;
  /**
   * The call belongs to another source, and this one may only have taken over its name: a very recent list is enough.
   *
   * @default false
   */
  readonly isForOther?: boolean;
  /** The link to list: the result of `Provider.linkFor`. @default the shared list */
  readonly link?: LinkKey;
}

/** The owner of an event, at a personal source. */
export interface EventOwner {
  /** Id of the only principal that may receive it. @default every principal may */
  readonly principal?: string;
}

/** The content behind a URI changed. */
export interface ResourceUpdate extends EventOwner {
  readonly uri: string;
  readonly params: JsonObject;
}

/** A log message that belongs to no call. */
export interface LogMessage extends EventOwner {
  /** In the shape of `notifications/message`. */
  readonly params: JsonObject;
}

/** Returns whether this principal may receive an event. */
export function isFor({ principal }: EventOwner, { id }: Pick<Principal, "id">): boolean {
  return principal === undefined || principal === id;
}

/**
 * Lists with a change that a source announced itself. Clients are notified even if the lists are equal to the earlier
 * ones.
 */
export interface ListAnnouncement extends EventOwner {
  readonly lists: readonly ("tools" | "resources" | "templates" | "prompts")[];
}

export interface ProviderEvents {
  /** The next `listing()` may differ. */
  readonly changed: Emitter<void>;
  /** Emitted before `changed`, once the lists have been read. Absent: the source announces nothing itself. */
  readonly announced?: Emitter<ListAnnouncement>;
  /** The content behind a subscribed URI changed (`notifications/resources/updated`). */
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}

/**
 * Supplies tools, resources and prompts from one place. It translates a call for its target and does nothing else; the
 * pipeline and the catalog handle validation, time, retries, limits and names.
 */
export interface Provider {
  readonly source: Source;
  readonly events: ProviderEvents;
  /** Starts background work and returns immediately; an unreachable source is a state, never a throw. */
  open(): void;
  /**
   * Returns the current listing of the source: the same object while nothing changed, synchronously if that is known
   * without checking. A source on disk checks before it answers; an upstream that was never listed is awaited, within
   * its own limit. `wish.link` selects the list at a personal source.
   */
  listing(wish?: ListingWish): Listing | Promise<Listing>;
  /**
   * Returns the link with the listing that this principal sees, at a personal source; the shared list is the one shown
   * to an unknown principal. Absent: every principal sees the same listing.
   */
  linkFor?(principal: Principal): LinkKey;
  /**
   * Returns the server of a principal's calls, at a personal source: its failures do not affect other principals.
   * Absent: the provider itself.
   */
  serverFor?(principal: Principal): object;
  /**
   * Present from `open()` until the first listing or its failure; over the given link, at a personal source. Absent: it
   * checks before it answers.
   */
  coldStart?(link?: LinkKey): ColdStart | undefined;
  /**
   * Reads the listing from the source itself, connecting first if needed; a cached list is not enough. Rejects with a
   * `FailError`. Absent: every `listing()` reads.
   */
  refresh?(signal: AbortSignal): Promise<void>;
  /** Never throws for an expected failure. `call.deadline` is always set here, and `call.signal` includes it. */
  call(call: ResolvedCall): Promise<Outcome>;
  /**
   * Keeps emitting `resourceUpdated` for `uri` until the returned function is called. Absent: the source does not
   * support it.
   */
  subscribe?(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>>;
  /** Sets the source's lowest log level. Absent: the source does not log. */
  setLogLevel?(level: string): Promise<void>;
  /** Reports that the caller's list of roots changed. */
  rootsChanged?(connection: string): void;
  /** Ends everything that was kept for a lasting connection that has ended. */
  release?(connection: string): void;
  status(): ProviderStatus;
  /**
   * Removes a broken download and downloads it again; the source then starts. Rejects with a `FailError`. Absent:
   * nothing is downloaded.
   */
  mend?(signal: AbortSignal): Promise<void>;
  /** Returns the installs that its tools need, without starting one. Absent: they never need any. */
  preparations?(): Promise<readonly Preparation[]>;
  /** Ends everything that was started. Idempotent, limited in time. */
  close(): Promise<void>;
}
