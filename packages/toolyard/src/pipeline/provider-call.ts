import { BuiltCall } from "../core/calls/built-call.ts";
import type { ServerRequest, Call, CallNotification } from "../core/calls/call.ts";
import type { Deadline } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail } from "../core/calls/outcome.ts";
import type { CallTarget, ResolvedCall } from "../core/sources/provider.ts";

/** Data that the pipeline adds to a call for the provider. */
export interface ProviderCallData {
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly record: CallTarget;
  readonly deadline: Deadline;
  /** Returns true after the end of the call. Late progress is then dropped, and late server requests are refused. */
  isOver(): boolean;
  /** Removes the configuration's secrets from data for the caller. */
  hide<T>(value: T): T;
  /** Records the answer to a server request, which `send` sends. Must not throw. Absent: answers are not recorded. */
  readonly awaited?: ((ask: ServerRequest, send: () => Promise<JsonObject>) => Promise<JsonObject>) | undefined;
  /** Records progress of the provider. Returns false if the notification must not be sent. */
  admitsProgress(progress: number): boolean;
}

/** Call as its provider gets it: with the validated arguments and the hub's deadline. */
export class ProviderCall extends BuiltCall implements ResolvedCall {
  declare deadline: Deadline;
  declare meta: JsonObject;
  readonly record: CallTarget;
  readonly #resolved: ProviderCallData;

  constructor(call: Call, resolved: ProviderCallData) {
    const { arguments: args, meta, deadline } = resolved;
    super(call, call, { arguments: args, deadline, cancellation: deadline.cancellation });
    this.meta = meta;
    this.record = resolved.record;
    this.#resolved = resolved;
  }

  override get signal(): AbortSignal {
    return this.deadline.signal;
  }

  override notify(notification: CallNotification): void {
    if (this.#resolved.isOver()) return;
    if (notification.method === "notifications/progress") {
      this.deadline.touch();
      if (!this.#resolved.admitsProgress(Number(notification.params["progress"]))) return;
    }
    super.notify(
      notification.method === "notifications/message"
        ? { ...notification, params: this.#resolved.hide(notification.params) }
        : notification,
    );
  }

  override ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#resolved.isOver())
      return Promise.reject(new FailError(fail("cancelled", "The call is over, so its caller is not asked any more.")));
    // While a user answers, only the total limit applies, so the idle limit is paused.
    const release = this.deadline.hold();
    const send = (): Promise<JsonObject> => super.ask(ask, signal ?? this.signal).finally(release);
    const { awaited } = this.#resolved;
    return awaited ? awaited(ask, send) : send();
  }
}
