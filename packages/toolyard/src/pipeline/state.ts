import type { Call, ServerRequest } from "../core/calls/call.ts";
import type { Deadline } from "../core/calls/deadline.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import type { ResolvedCall } from "../core/sources/provider.ts";
import type { OutageReport } from "../core/sources/records.ts";
import type { CallTimes, FoundCall } from "./ports.ts";
import { ProviderCall } from "./provider-call.ts";

/** Functions of the pipeline that the state of each call uses. */
export interface CallHooks {
  /** Removes the configuration's secrets from data for the caller. */
  hide<T>(value: T): T;
  /** Records the answer to a server request, and returns it. Absent: answers are not recorded. */
  readonly awaited?:
    | ((state: CallState, ask: ServerRequest, send: () => Promise<JsonObject>) => Promise<JsonObject>)
    | undefined;
}

/** State of a running call. Stages add to it; inner stages may use what outer stages have set. */
export class CallState implements CallTimes {
  readonly call: Call;
  /** Arguments as the caller sent them, until `validate` has filled in defaults. */
  arguments: JsonObject;
  /** `_meta` for the provider, at first that of the caller. `replaceMeta` changes it. */
  meta: JsonObject;
  /**
   * Deadline of the call, set by `deadline`. It ends for every reason: its own time, a parent's time, a cancellation by
   * the caller.
   */
  declare deadline: Deadline;
  /** Resolved target, set by `resolve`. */
  declare found: FoundCall;
  /** True after `resolve` has found the target. */
  isResolved = false;
  /** True after the end of the call. Late progress is then dropped, and late server requests are refused. */
  isOver = false;
  /** Number of calls to the provider so far. */
  attempts = 0;
  /** Size of the result, or -1 for one that is nested too deeply. */
  resultBytes = 0;
  /** True after the provider sent progress of the running call. */
  hasToolProgress = false;
  /** Last progress that the hub sent. Progress must increase (MCP), so smaller values of the tool are dropped. */
  hubProgress = Number.NEGATIVE_INFINITY;
  /**
   * Times on the clock of `performance.now()`: the start, then at the index of each timed stage. Absent: the stages of
   * this call are not timed.
   */
  times: number[] | undefined;
  /** Data of the stages that record this call. Absent: the call is not recorded. */
  trace: object | undefined;
  /** Outage report of the source, if it has one. Set by `resolve`. */
  outage: OutageReport | undefined;
  #resolvedCall: ResolvedCall | undefined;
  readonly #hooks: CallHooks;

  constructor(call: Call, hooks: CallHooks) {
    this.#hooks = hooks;
    this.call = call;
    this.arguments = call.arguments;
    this.meta = call.meta;
  }

  /** Replaces the `_meta` for the provider, before the provider is called. */
  replaceMeta(meta: JsonObject): void {
    this.meta = meta;
    this.#resolvedCall = undefined;
  }

  /** Call as the provider gets it; the same object for each attempt. */
  get resolvedCall(): ResolvedCall {
    const { hide, awaited } = this.#hooks;
    this.#resolvedCall ??= new ProviderCall(this.call, {
      arguments: this.arguments,
      meta: this.meta,
      record: this.found.target,
      deadline: this.deadline,
      isOver: () => this.isOver,
      hide,
      awaited: awaited && ((ask, send) => awaited(this, ask, send)),
      admitsProgress: (progress) => {
        this.hasToolProgress = true;
        return !(progress <= this.hubProgress);
      },
    });
    return this.#resolvedCall;
  }
}

/**
 * One stage of the pipeline. It may refuse the call, wait, change the state, or change the outcome of the inner stages.
 */
export type Stage = (state: CallState, next: Next) => Promise<Outcome>;
export type Next = (state: CallState) => Promise<Outcome>;
