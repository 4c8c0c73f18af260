import type { Ask, Call, Notice } from "../core/call.ts";
import { CallBase } from "../core/call-base.ts";
import type { Deadline } from "../core/deadline.ts";
import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { fail } from "../core/outcome.ts";
import type { CallTarget, ResolvedCall } from "../core/provider.ts";

/** What the pipeline adds to a call before a provider gets it. */
export interface Resolved {
  readonly arguments: JsonObject;
  readonly record: CallTarget;
  readonly deadline: Deadline;
  /** The call is over: late progress is dropped, late asks are refused. */
  isOver(): boolean;
  /** Takes the configuration's secrets out of what goes to the caller. */
  hide<T>(value: T): T;
}

/** The call as its provider gets it. */
export class ProviderCall extends CallBase implements ResolvedCall {
  readonly record: CallTarget;
  readonly #call: Call;
  readonly #resolved: Resolved;

  constructor(call: Call, resolved: Resolved) {
    super(call, { arguments: resolved.arguments, deadline: resolved.deadline }, resolved.deadline.cancellation);
    this.#call = call;
    this.#resolved = resolved;
    this.record = resolved.record;
  }

  get signal(): AbortSignal {
    return this.#resolved.deadline.signal;
  }

  notify(notice: Notice): void {
    if (this.#resolved.isOver()) return;
    if (notice.method === "notifications/progress") this.#resolved.deadline.touch();
    this.#call.notify(notice.method === "notifications/message" ? { ...notice, params: this.#resolved.hide(notice.params) } : notice);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#resolved.isOver()) return Promise.reject(new FailError(fail("cancelled", "The call is over, so its caller is not asked any more.")));
    // A person may take their time to answer; only the total bound goes on.
    const release = this.#resolved.deadline.hold();
    return this.#call.ask(ask, signal ?? this.signal).finally(release);
  }
}
