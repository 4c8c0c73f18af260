import type { Call } from "../core/calls/call.ts";
import type { Deadline } from "../core/calls/deadline.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import type { ResolvedCall } from "../core/sources/provider.ts";
import type { OutageReport } from "../core/sources/records.ts";
import type { CallTimes, FoundCall } from "./ports.ts";
import { ProviderCall } from "./provider-call.ts";

/** State of a running call. Stages add to it; inner stages may use what outer stages have set. */
export class CallState implements CallTimes {
  readonly call: Call;
  /** Arguments as the caller sent them, until `validate` has filled in defaults. */
  arguments: JsonObject;
  /** The caller's `_meta`. A stage may replace it before the provider is called. */
  #meta: JsonObject;
  /** Number of calls to the provider so far. */
  attempts = 0;
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
  #deadline: Deadline | undefined;
  #found: FoundCall | undefined;
  #resolvedCall: ResolvedCall | undefined;
  #isOpen = true;
  readonly #hide: <T>(value: T) => T;

  constructor(call: Call, hide: <T>(value: T) => T = (value) => value) {
    this.#hide = hide;
    this.call = call;
    this.arguments = call.arguments;
    this.#meta = call.meta;
  }

  /** `_meta` for the provider. */
  get meta(): JsonObject {
    return this.#meta;
  }

  set meta(meta: JsonObject) {
    this.#meta = meta;
    this.#resolvedCall = undefined;
  }

  /**
   * Deadline of the call, set by `deadline`. It ends for every reason: its own time, a parent's time, a cancellation by
   * the caller.
   */
  get deadline(): Deadline {
    if (!this.#deadline) throw new TypeError("The deadline stage comes first.");
    return this.#deadline;
  }

  set deadline(deadline: Deadline) {
    this.#deadline = deadline;
  }

  /** Resolved target, set by `resolve`. */
  get found(): FoundCall {
    if (!this.#found) throw new TypeError("The resolve stage comes first.");
    return this.#found;
  }

  set found(found: FoundCall) {
    this.#found = found;
  }

  get isResolved(): boolean {
    return this.#found !== undefined;
  }

  /** Marks the end of the call. Late progress is dropped, and late server requests are refused. */
  close(): void {
    this.#isOpen = false;
  }

  /** Call as the provider gets it; the same object for each attempt. */
  get resolvedCall(): ResolvedCall {
    this.#resolvedCall ??= new ProviderCall(this.call, {
      arguments: this.arguments,
      meta: this.#meta,
      record: this.found.target,
      deadline: this.deadline,
      isOver: () => !this.#isOpen,
      hide: this.#hide,
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
