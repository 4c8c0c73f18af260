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
  /** Present: the target belongs to this source, which is unavailable. */
  readonly outage?: OutageReport;
}

export interface FoundCall {
  readonly found: true;
  /** As callers see it: the rendered name, or a URI. The audit line shows it. */
  readonly name: string;
  /** Subject of the rights check. */
  readonly subject: Subject;
  readonly target: CallTarget;
  readonly provider: Provider;
  /** The URIs of the source as callers see them. Absent: they are as the source has them. */
  readonly uris?: SourceUris | undefined;
  /** Limits of the source, for those that the tool does not set. */
  readonly limits?: ToolLimits | undefined;
}

/** May wait for sources that look before they answer. Throws a `FailError` or nothing. */
export type Resolve = (call: Call) => Resolution | Promise<Resolution>;

/** A call that is over, as it is reported to listeners. */
export interface CallSeen extends AuditLine {
  /** Name of the caller for users: the principal, or the client program of the local user. */
  readonly who: string;
}

/** Called at the end of each call, not of inner calls. It must not throw or block. */
export type CallListener = (seen: CallSeen) => void;

/** Reports calls while they run, without inner calls. */
export interface CallWatch {
  /** Level of the log line of a call that went well. @default "debug" */
  readonly level?: "info" | "debug";
  /** The line is kept and not written, because its readers see the call in another place, or do not need it. */
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
  /** Keeps lines for clients of a running hub, and writes them nowhere. @default `logger` */
  readonly keptLogger?: Logger;
  readonly options: LimitsOptions;
  /** Its creator closes it. */
  readonly schemas: Pick<SchemaChecks, "of">;
  /** Hears of schemas that turn out to be broken at the first call. */
  readonly onProblem: (problem: Problem) => void;
  /** Removes the configuration's secrets from failures and log messages. Absent: there are none. */
  readonly hide?: <T>(value: T) => T;
  /** The only server behind this hub is a hub with its own error codes, which apply. @default false */
  readonly isMirror?: boolean;
  readonly watch?: Omit<CallWatch, "onCall">;
  /** @default none */
  readonly listeners?: readonly CallListener[];
  /** Called for inner calls too. @default none */
  readonly everyListeners?: readonly CallListener[];
  /** Returns a failure that replaces a timeout, if the reason is known. The provider is absent if none was found. */
  readonly whyLate?: (call: Call, provider: Provider | undefined) => Fail | undefined;
  /** Returns a sentence on the download that the call waits for, if it waits for one. Arguments as for `whyLate`. */
  readonly waitsFor?: (call: Call, provider: Provider | undefined) => string | undefined;
}
