import type { Call } from "../core/calls/call.ts";
import type { Fail } from "../core/calls/outcome.ts";
import type { Audit, AuditLine } from "../core/ports/audit.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { CallTarget, Provider } from "../core/sources/provider.ts";
import type { OutageReport, Problem, ToolLimits } from "../core/sources/records.ts";
import type { LimitStore } from "../state/ports/limit-store.ts";
import type { SchemaChecks } from "../schema/schema-checks.ts";
import type { SourceUris } from "../core/uris/source-uris.ts";
import type { Subject } from "../core/ports/permission.ts";
import type { Breakers } from "./breakers.ts";
import type { LimitsOptions } from "./options.ts";

/** Result of resolving a call's target in the caller's view. */
export type Resolution = FoundCall | NotFound;

export interface NotFound {
  readonly found: false;
  readonly failure: Fail;
  /** Present if the target belongs to this source and the source is unavailable. */
  readonly outage?: OutageReport;
}

export interface FoundCall {
  readonly found: true;
  /** Rendered name or URI, as callers see it. The audit line contains it. */
  readonly name: string;
  /** Subject with which rights are compared. */
  readonly subject: Subject;
  readonly target: CallTarget;
  readonly provider: Provider;
  /** URIs of the source as callers see them. Absent: they are unchanged. */
  readonly uris?: SourceUris | undefined;
  /** Limits of the source for those that the tool does not set. */
  readonly limits?: ToolLimits | undefined;
}

/** Resolves the target of a call. May wait for sources that check before they answer. Throws only `FailError`s. */
export type Resolve = (call: Call) => Resolution | Promise<Resolution>;

/** Finished call, as it is reported to listeners. */
export interface CallSeen extends AuditLine {
  /** Name of the caller for users: the principal, or the client program of the local user. */
  readonly who: string;
}

/** Times of a finished call. */
export interface CallTimes {
  /** Start and timed stages, as in `CallState`. Absent: the stages were not timed. */
  readonly times: readonly number[] | undefined;
  /** Data of the stages that recorded the call, as in `CallState`. Absent: the call was not recorded. */
  readonly trace: object | undefined;
}

/** Called at the end of each call, except for inner calls. It must not throw or block. */
export type CallListener = (seen: CallSeen, state: CallTimes) => void;

/** Options for reports of running calls, without inner calls. */
export interface CallWatch {
  /** Level of the log line of a successful call. @default "debug" */
  readonly level?: "info" | "debug";
  /** True if the line is kept but not written, because its readers already see the call elsewhere or do not need it. */
  readonly isUnwritten?: boolean;
  readonly onCall?: CallListener;
}

/** Dependencies of the pipeline. */
export interface PipelineDeps {
  readonly resolve: Resolve;
  readonly limitStore: LimitStore;
  readonly breakers: Breakers;
  readonly audit: Audit;
  readonly logger: Logger;
  /** Logger that keeps lines for clients of a running hub without writing them. @default `logger` */
  readonly keptLogger?: Logger;
  readonly options: LimitsOptions;
  /** Schema checks. The creator closes them. */
  readonly schemas: Pick<SchemaChecks, "of">;
  /** Called with schemas that turn out to be broken at the first call. */
  readonly onProblem: (problem: Problem) => void;
  /** Removes the configuration's secrets from failures and log messages. Absent: there are no secrets. */
  readonly hide?: <T>(value: T) => T;
  /** True if the only server behind this hub is itself a hub. The error codes of that hub then apply. @default false */
  readonly isMirror?: boolean;
  readonly watch?: Omit<CallWatch, "onCall">;
  /** Listeners for finished calls. @default none */
  readonly listeners?: readonly CallListener[];
  /** Listeners for finished calls, including inner calls. @default none */
  readonly everyListeners?: readonly CallListener[];
  /** Returns a failure that replaces a timeout, if the reason is known. The provider is absent if none was found. */
  readonly whyLate?: (call: Call, provider: Provider | undefined) => Fail | undefined;
  /** Returns a sentence about the download for which the call waits, if there is one. Arguments as for `whyLate`. */
  readonly waitsFor?: (call: Call, provider: Provider | undefined) => string | undefined;
}
