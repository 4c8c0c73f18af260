import type { Call, Principal } from "../calls/call.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";
import type { LinkKey } from "../calls/link-key.ts";
import type { Outcome } from "../calls/outcome.ts";
import type { Listing, Source, ToolRecord, ResourceRecord, TemplateRecord, PromptRecord } from "./records.ts";

/**
 * A call that the pipeline has admitted and resolved: the record it goes to, and validated arguments with defaults
 * filled in.
 */
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

/** What a source waits for before it can start: `npx`, `uvx` and the like download at their first start. */
export interface Installation {
  /** What is downloaded, as the configuration names it: `npx @scope/server`. */
  readonly package: string;
  /** Since when, an ISO time. */
  readonly since: string;
  /** What happens at this moment: the last line that the program wrote, or whose download is waited for. */
  readonly waitsFor: string;
  /** Process that downloads; ending it ends the download. */
  readonly pid?: number;
}

/** Something downloaded earlier that cannot be used: an install that was ended in the middle. */
export interface BrokenInstall {
  readonly package: string;
  /** What is removed by mending. */
  readonly folders: readonly string[];
  /** It was mended before, and failed again. */
  readonly mended: boolean;
}

/** Something that tools of a source need installed before they run. */
export interface Preparation {
  /** File that says so. */
  readonly file: string;
  /** What it is, for people: `header`, `requirements.txt`, `package.json`. */
  readonly kind: string;
  /** Names of the tools, as the source has them. */
  readonly tools: readonly string[];
  /** Folder that it is installed to. */
  readonly target: string;
  /** What is run, one command a line; none where `problem` says why it cannot be. */
  readonly commands: readonly string[];
  readonly problem?: string;
  /** What somebody should know before they agree. */
  readonly note?: string;
  readonly isReady: boolean;
  /** What happens at this moment, while this process installs it. */
  progress(): Installation | undefined;
  /** Installs it, or waits for whoever does. Rejects with a `FailError`. */
  run(signal: AbortSignal): Promise<void>;
}

/** What `status` and `check` show of one source. Holds no secret. */
export interface ProviderStatus {
  readonly state: ProviderState;
  /** One sentence on the last thing that went wrong. */
  readonly lastError?: string;
  /** Last lines of a child's stderr. */
  readonly stderr?: readonly string[];
  readonly restarts?: number;
  readonly pid?: number;
  readonly since?: string;
  /** Present while the source, or what its tools need, is downloaded. */
  readonly installing?: Installation;
  /** Of a start under way: how much of its time it could not use since the machine was busy, in milliseconds. */
  readonly delayedMs?: number;
  /** True while lists that the source announced as changed are about to be read. @default false */
  readonly isListing?: boolean;
  /** Present while what was downloaded cannot be used; see `Provider.mend`. */
  readonly broken?: BrokenInstall;
  /** Free facts: protocol revision, server name, endpoint, folder. */
  readonly info?: JsonObject;
}

/** A source that never said what it offers, and did not fail to either. */
export interface ColdStart {
  /** Until when those wait for it whose wish it merely may be able to fulfil, on the clock of `performance.now()`. */
  readonly waitUntil: number;
  /** Fulfilled once it was listed, failed to be, or was closed. Never rejects. */
  readonly over: Promise<void>;
}

export interface ListingWish {
  /** For a call to something listed: expired lists, or lists before an announced change, are enough. @default false */
  readonly mayBeOld?: boolean;
  /**
   * Something of another source is meant, which this one may only have taken over: what it saw a moment ago will do.
   *
   * @default false
   */
  readonly isForOther?: boolean;
  /** Whose list it is to be: what `Provider.linkFor` gave. @default everybody's */
  readonly link?: LinkKey;
}

/** Whose an event is, of a source that is per person. */
export interface EventOwner {
  /** Id of the one principal that may hear of it. @default everybody may */
  readonly principal?: string;
}

/** Content behind a URI changed. */
export interface ResourceUpdate extends EventOwner {
  readonly uri: string;
  readonly params: JsonObject;
}

/** A log message that belongs to no call. */
export interface LogMessage extends EventOwner {
  /** In the shape of `notifications/message`. */
  readonly params: JsonObject;
}

/** Whether this principal may hear of an event. */
export function isFor({ principal }: EventOwner, { id }: Pick<Principal, "id">): boolean {
  return principal === undefined || principal === id;
}

/** Lists whose change a source announced itself. Clients are notified even if the lists are the same as before. */
export interface ListAnnouncement extends EventOwner {
  readonly lists: readonly ("tools" | "resources" | "templates" | "prompts")[];
}

export interface ProviderEvents {
  /** The next `listing()` may differ. */
  readonly changed: Emitter<void>;
  /** Emitted before `changed`, once the lists have been read. Absent: the source announces nothing itself. */
  readonly announced?: Emitter<ListAnnouncement>;
  /** Content behind a subscribed URI changed (`notifications/resources/updated`). */
  readonly resourceUpdated: Emitter<ResourceUpdate>;
  readonly log: Emitter<LogMessage>;
}

/**
 * Brings tools, resources and prompts from one place. It turns a call into whatever its world needs, and does nothing
 * else; validation, time, retries, limits and names are the pipeline's and the catalog's business.
 */
export interface Provider {
  readonly source: Source;
  readonly events: ProviderEvents;
  /** Starts background work and returns at once; a source that is not there is a state, never a throw. */
  open(): void;
  /**
   * What the source offers now. Returns the same object while nothing changed, synchronously where that is known
   * without looking. A source on disk looks before it answers; an upstream never listed before is waited for, within
   * its own bound. `wish.link` says whose list it is to be, for a source that is per person.
   */
  listing(wish?: ListingWish): Listing | Promise<Listing>;
  /**
   * The link whose list a principal sees, of a source that is per person; everybody's list is what somebody is shown of
   * whom nothing is known. Absent: everybody sees the same.
   */
  linkFor?(principal: Principal): LinkKey;
  /**
   * What serves a principal's calls, of a source that is per person: their failures say nothing of anybody else's.
   * Absent: the provider itself.
   */
  serverFor?(principal: Principal): object;
  /**
   * Present from `open()` until the source was listed for the first time, or failed to be; over the given link, for a
   * source that is per person. Absent: it looks before it answers.
   */
  coldStart?(link?: LinkKey): ColdStart | undefined;
  /**
   * Reads the listing from the source itself, connecting first where that is needed; what is kept is no answer. Rejects
   * with a `FailError`. Absent: every `listing()` looks.
   */
  refresh?(signal: AbortSignal): Promise<void>;
  /** Never throws for an expected failure. `call.deadline` is always set here, and `call.signal` includes it. */
  call(call: ResolvedCall): Promise<Outcome>;
  /** Keeps `resourceUpdated` coming for `uri` until the returned function is called. Absent: the source cannot. */
  subscribe?(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>>;
  /** Asks the source to log from this level on. Absent: the source does not log. */
  setLogLevel?(level: string): Promise<void>;
  /** The caller's list of roots changed. */
  rootsChanged?(connection: string): void;
  /** The lasting connection is over; whatever was kept for it ends. */
  release?(connection: string): void;
  status(): ProviderStatus;
  /**
   * Removes a broken download and downloads it anew; the source then starts. Rejects with a `FailError`. Absent:
   * nothing is downloaded.
   */
  mend?(signal: AbortSignal): Promise<void>;
  /** What its tools need installed. Nothing is installed by asking. Absent: they never need anything. */
  preparations?(): Promise<readonly Preparation[]>;
  /** Ends everything that was started. Idempotent, bounded in time. */
  close(): Promise<void>;
}
