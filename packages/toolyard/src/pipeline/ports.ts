import type { Call } from "../core/calls/call.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { Fail } from "../core/calls/outcome.ts";
import type { Audit, Logger } from "../core/ports/ports.ts";
import type { CallTarget, Provider } from "../core/sources/provider.ts";
import type { OutageReport, Problem, ToolLimits } from "../core/sources/records.ts";
import type { LimitStore } from "../state/ports/limit-store.ts";
import type { SchemaChecks } from "../schema/schema-checks.ts";
import type { SourceUris } from "../core/uris/source-uris.ts";
import type { Subject } from "../core/ports/rights.ts";
import type { Breakers } from "./breakers.ts";
import type { LimitsOptions } from "./options.ts";

/** What a call's target leads to, in the caller's view of things. */
export type Resolution = Found | NotFound;

export interface NotFound {
  readonly found: false;
  readonly failure: Fail;
  /** Present: what is asked for is this one's, which is away. */
  readonly outage?: OutageReport;
}

export interface Found {
  readonly found: true;
  /** As callers see it: the rendered name, or a URI. The audit line shows it. */
  readonly name: string;
  /** What rights are held against. */
  readonly subject: Subject;
  readonly target: CallTarget;
  readonly provider: Provider;
  /** The URIs of the source as callers see them. Absent: they are as the source has them. */
  readonly uris?: SourceUris | undefined;
  /** Bounds of the source, for whatever the tool itself leaves open. */
  readonly limits?: ToolLimits | undefined;
}

/** May wait for sources that look before they answer. Throws a `FailError` or nothing. */
export type Resolve = (call: Call) => Resolution | Promise<Resolution>;

/** A call that is over, as it is reported to listeners. */
export interface CallSeen {
  /** The name of its token, or of its program where it needs none. */
  readonly who: string;
  /** The endpoint that it came by. */
  readonly door: string;
  readonly target: string;
  /** Id of its source; absent where the name led to none. */
  readonly source?: string;
  readonly durationMs: number;
  readonly kind: FailKind | "ok";
}

/** Is told of a call at its end; calls inside of others are part of them. It must not throw and must not wait. */
export type CallListener = (seen: CallSeen) => void;

/** How calls are reported while they happen; those made inside of others are part of them. */
export interface CallWatch {
  /** Level of the log line of a call that went well. @default "debug" */
  readonly level?: "info" | "debug";
  /** That line is kept and not written: whoever would read it there is shown the call, or wants to see none. */
  readonly isUnwritten?: boolean;
  readonly onCall?: CallListener;
}

/** What the pipeline needs of the rest. */
export interface PipelineDeps {
  readonly resolve: Resolve;
  readonly limitStore: LimitStore;
  readonly breakers: Breakers;
  readonly audit: Audit;
  readonly logger: Logger;
  /** Keeps lines for whoever asks a running hub, and writes them nowhere. @default `logger` */
  readonly keptLogger?: Logger;
  readonly options: LimitsOptions;
  /** Whoever makes them closes them. */
  readonly schemas: Pick<SchemaChecks, "of">;
  /** Hears of schemas that turn out to be broken at the first call. */
  readonly onProblem: (problem: Problem) => void;
  /**
   * Takes the configuration's secrets out of what a failure or a log message says to its caller. Absent: there are
   * none.
   */
  readonly hide?: <T>(value: T) => T;
  /** The one server behind this hub is a hub, whose error codes count. @default false */
  readonly isMirror?: boolean;
  readonly watch?: Omit<CallWatch, "onCall">;
  /** @default none */
  readonly listeners?: readonly CallListener[];
  /** What to say in place of a timeout, since more is known of why. The provider is absent while none was found. */
  readonly whyLate?: (call: Call, provider: Provider | undefined) => Fail | undefined;
}
