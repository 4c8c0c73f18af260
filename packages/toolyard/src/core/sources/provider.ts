import type { Call, Principal } from "../calls/call.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";
import type { LinkKey } from "../calls/link-key.ts";
import type { Outcome } from "../calls/outcome.ts";
import type { Listing, Source, ToolRecord, ResourceRecord, TemplateRecord, PromptRecord } from "./records.ts";

/** Call that the pipeline has admitted and resolved, with its record and validated arguments including defaults. */
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
 * Download that a source needs before it can start: `npx`, `uvx` and similar programs download at their first start.
 */
export interface Installation {
  /** Package as the configuration names it: `npx @scope/server`. */
  readonly package: string;
  /** Start time in ISO 8601. */
  readonly since: string;
  /**
   * Current progress: the last line that the program wrote. If the source waits for another download, the id of that
   * download's source.
   */
  readonly waitsFor: string;
  /** Id of the process that downloads. If it is ended, the download ends. */
  readonly pid?: number;
}

/** Download that cannot be used, because an install was interrupted. */
export interface BrokenInstall {
  readonly package: string;
  /** Folders that a repair removes. */
  readonly folders: readonly string[];
  /** True if the download was repaired before and failed again. */
  readonly mended: boolean;
}

/** Install that tools of a source need before they can run. */
export interface Preparation {
  /** File that requires the install. */
  readonly file: string;
  /** Type for display: `header`, `requirements.txt`, `package.json`. */
  readonly kind: string;
  /** Names of the tools in the source. */
  readonly tools: readonly string[];
  /** Target folder of the install. */
  readonly target: string;
  /** Commands that are run, one per line. Empty if `problem` explains why the install is impossible. */
  readonly commands: readonly string[];
  readonly problem?: string;
  /** Information that the user needs before agreeing. */
  readonly note?: string;
  readonly isReady: boolean;
  /** Returns the current progress while this process runs the install. */
  progress(): Installation | undefined;
  /** Runs the install, or waits for the running one. Rejects with a `FailError`. */
  run(signal: AbortSignal): Promise<void>;
}

/** State of one source for `status` and `check`. Contains no secret. */
export interface ProviderStatus {
  readonly state: ProviderState;
  /** Sentence about the most recent failure. */
  readonly lastError?: string;
  /** Last lines of a child process's stderr. */
  readonly stderr?: readonly string[];
  readonly restarts?: number;
  readonly pid?: number;
  readonly since?: string;
  /** Present while the source, or a dependency of its tools, is being downloaded. */
  readonly installing?: Installation;
  /**
   * Milliseconds of the running start that do not count towards the connection timeout, because the machine was busy.
   */
  readonly delayedMs?: number;
  /** True while the hub is about to read lists that the source announced as changed. @default false */
  readonly isListing?: boolean;
  /** Present if a download cannot be used; see `Provider.mend`. */
  readonly broken?: BrokenInstall;
  /** Further facts: protocol revision, server name, endpoint, folder. */
  readonly info?: JsonObject;
}

/** Cold start of a source: it was never listed and has not failed yet. */
export interface ColdStart {
  /** Time until which calls that may belong to the source wait, on the clock of `performance.now()`. */
  readonly waitUntil: number;
  /** Resolves when the source was listed, failed, or was closed. Never rejects. */
  readonly over: Promise<void>;
}

export interface ListingRequest {
  /**
   * True if a list is sufficient that has expired or was announced as changed, as for a call to a listed tool.
   * @default false
   */
  readonly mayBeOld?: boolean;
  /**
   * True if the call belongs to another source, and this source is only checked for a tool of the same name. A very
   * recent list is then sufficient. @default false
   */
  readonly isForOther?: boolean;
  /** Link for which the list is read: the result of `Provider.linkFor`. @default the shared list */
  readonly link?: LinkKey;
}

/** Owner of an event from a personal source. */
export interface EventOwner {
  /** Id of the only principal that may receive the event. @default every principal may receive it */
  readonly principal?: string;
}

/** Event: the content of a URI changed. */
export interface ResourceUpdate extends EventOwner {
  readonly uri: string;
  readonly params: JsonObject;
}

/** Event: a log message that belongs to no call. */
export interface LogMessage extends EventOwner {
  /** Parameters in the form of `notifications/message`. */
  readonly params: JsonObject;
}

/** Returns true if this principal may receive an event. */
export function isFor({ principal }: EventOwner, { id }: Pick<Principal, "id">): boolean {
  return principal === undefined || principal === id;
}

/**
 * Event: lists that a source itself announced as changed. Clients are notified even if the lists equal the previous
 * ones.
 */
export interface ListAnnouncement extends EventOwner {
  readonly lists: readonly ("tools" | "resources" | "templates" | "prompts")[];
}

export interface ProviderEvents {
  /** Emitted when the next `listing()` may differ. */
  readonly changed: Emitter<void>;
  /** Emitted before `changed`, after the lists were read. Absent if the source announces nothing itself. */
  readonly announced?: Emitter<ListAnnouncement>;
  /** Emitted when the content of a subscribed URI changed (`notifications/resources/updated`). */
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}

/**
 * Supplies the tools, resources and prompts of one source. A provider only translates calls for its target; the
 * pipeline and the catalog handle validation, time limits, retries, rate limits and names.
 */
export interface Provider {
  readonly source: Source;
  readonly events: ProviderEvents;
  /**
   * Starts background work and returns immediately. An unreachable source is a state and never causes an exception.
   */
  open(): void;
  /**
   * Returns the current listing of the source. It is the same object while nothing changed, and is returned
   * synchronously if no check is needed. A source on disk checks the disk first. An upstream that was never listed is
   * awaited, within its own time limit. `wish.link` selects the list of a personal source.
   */
  listing(wish?: ListingRequest): Listing | Promise<Listing>;
  /**
   * Returns the link whose listing this principal sees, for a personal source; an unknown principal sees the shared
   * listing. Absent: every principal sees the same listing.
   */
  linkFor?(principal: Principal): LinkKey;
  /**
   * Returns the server for a principal's calls, at a personal source. Its failures do not affect other principals.
   * Absent: the provider itself.
   */
  serverFor?(principal: Principal): object;
  /**
   * Returns the cold start of the given link from `open()` until its first listing or failure, otherwise `undefined`.
   * Absent: the provider checks its source before each listing.
   */
  coldStart?(link?: LinkKey): ColdStart | undefined;
  /**
   * Reads the listing from the source itself, and connects first if needed. Does not use a cached list. Rejects with a
   * `FailError`. Absent: every `listing()` reads from the source.
   */
  refresh?(signal: AbortSignal): Promise<void>;
  /**
   * Restarts a running process that has not been used yet, so that it gets the current environment. Absent if the
   * source has no process that keeps its environment.
   */
  restartUnused?(): Promise<void>;
  /**
   * Runs a call. Never throws for an expected failure. `call.deadline` is always set, and `call.signal` includes it.
   */
  call(call: ResolvedCall): Promise<Outcome>;
  /**
   * Emits `resourceUpdated` for `uri` until the resolved function is called. Absent if the source does not support
   * subscriptions.
   */
  subscribe?(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>>;
  /** Sets the lowest level of the source's log messages. Absent if the source does not log. */
  setLogLevel?(level: string): Promise<void>;
  /** Notifies the source that the caller's list of roots changed. */
  rootsChanged?(connection: string): void;
  /** Releases everything that the provider holds for a lasting connection that has ended. */
  release?(connection: string): void;
  status(): ProviderStatus;
  /**
   * Removes a broken download and downloads it again; then the source starts. Rejects with a `FailError`. Absent if the
   * source downloads nothing.
   */
  mend?(signal: AbortSignal): Promise<void>;
  /**
   * Resolves with the installs that the source's tools need, without starting any. Absent if they never need an
   * install.
   */
  preparations?(): Promise<readonly Preparation[]>;
  /** Ends everything that the provider started. Idempotent, limited in time. */
  close(): Promise<void>;
}
