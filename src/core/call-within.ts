import {
  cancellationOf,
  type Ask,
  type Call,
  type Client,
  type Notice,
  type Principal,
  type ToolMode,
} from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Deadline } from "./deadline.ts";
import type { JsonObject } from "./json.ts";

/** What a call inside a call has of its own. */
export type Own = Partial<
  Pick<Call, "id" | "parent" | "depth" | "mode" | "method" | "target" | "params" | "arguments" | "relaysInput">
>;

/** The same call, which `signal` ends, too: for what a part of its work calls. */
export function callWithin(parent: Call, signal: AbortSignal): Call {
  return new CallWithin(parent, {}, AbortSignal.any([parent.signal, signal]));
}

/** A call that a running call makes: as its caller, inside its time, ended with it. */
export function innerCall(parent: Call, own: Own): Call {
  return new CallWithin(parent, own, undefined);
}

// Members are named one by one: a spread would lose what the parent's class defines, and would keep a cancellation that
// a new signal replaces.
class CallWithin implements Call {
  readonly id: string;
  declare readonly parent?: string;
  declare readonly depth?: number;
  declare readonly models?: NonNullable<Call["models"]>;
  declare readonly deadline?: Deadline;
  readonly door: string;
  readonly method: Call["method"];
  readonly target: string;
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly principal: Principal;
  readonly mode: ToolMode;
  readonly client: Client;
  readonly cancellation: Cancellation;
  readonly wants: Call["wants"];
  readonly relaysInput: boolean;
  readonly #parent: Call;
  readonly #signal: AbortSignal | undefined;

  constructor(parent: Call, own: Own, signal: AbortSignal | undefined) {
    this.#parent = parent;
    this.#signal = signal;
    const parentId = own.parent ?? parent.parent;
    const depth = own.depth ?? parent.depth;
    if (parentId !== undefined) this.parent = parentId;
    if (depth !== undefined) this.depth = depth;
    if (parent.models) this.models = parent.models;
    if (parent.deadline) this.deadline = parent.deadline;
    this.id = own.id ?? parent.id;
    this.door = parent.door;
    this.method = own.method ?? parent.method;
    this.target = own.target ?? parent.target;
    this.params = own.params ?? parent.params;
    this.arguments = own.arguments ?? parent.arguments;
    this.meta = parent.meta;
    this.principal = parent.principal;
    this.mode = own.mode ?? parent.mode;
    this.client = parent.client;
    this.cancellation = signal ?? cancellationOf(parent);
    this.wants = parent.wants;
    this.relaysInput = own.relaysInput ?? parent.relaysInput;
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#parent.signal;
  }

  notify(notice: Notice): void {
    this.#parent.notify(notice);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.#parent.ask(ask, signal);
  }
}
