import type { Ask, Call, Notice } from "../core/call.ts";
import type { Cancellation } from "../core/cancellation.ts";
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

/** The call as its provider gets it. Why it is a class: see `LinkCall`. */
export class ProviderCall implements ResolvedCall {
  readonly id: string;
  declare readonly parent?: NonNullable<Call["parent"]>;
  declare readonly depth?: number;
  declare readonly models?: NonNullable<Call["models"]>;
  readonly door: string;
  readonly method: Call["method"];
  readonly target: string;
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly principal: Call["principal"];
  readonly mode: Call["mode"];
  readonly client: Call["client"];
  readonly cancellation: Cancellation;
  readonly deadline: Deadline;
  readonly wants: Call["wants"];
  readonly relaysInput: boolean;
  readonly record: CallTarget;
  readonly #call: Call;
  readonly #resolved: Resolved;

  constructor(call: Call, resolved: Resolved) {
    this.#call = call;
    this.#resolved = resolved;
    this.id = call.id;
    if (call.parent !== undefined) this.parent = call.parent;
    if (call.depth !== undefined) this.depth = call.depth;
    if (call.models) this.models = call.models;
    this.door = call.door;
    this.method = call.method;
    this.target = call.target;
    this.params = call.params;
    this.arguments = resolved.arguments;
    this.meta = call.meta;
    this.principal = call.principal;
    this.mode = call.mode;
    this.client = call.client;
    this.cancellation = resolved.deadline.cancellation;
    this.deadline = resolved.deadline;
    this.wants = call.wants;
    this.relaysInput = call.relaysInput;
    this.record = resolved.record;
  }

  get signal(): AbortSignal {
    return this.deadline.signal;
  }

  notify(notice: Notice): void {
    if (this.#resolved.isOver()) return;
    if (notice.method === "notifications/progress") this.deadline.touch();
    this.#call.notify(
      notice.method === "notifications/message" ? { ...notice, params: this.#resolved.hide(notice.params) } : notice,
    );
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#resolved.isOver())
      return Promise.reject(new FailError(fail("cancelled", "The call is over, so its caller is not asked any more.")));
    // A person may take their time to answer; only the total bound goes on.
    const release = this.deadline.hold();
    return this.#call.ask(ask, signal ?? this.signal).finally(release);
  }
}
