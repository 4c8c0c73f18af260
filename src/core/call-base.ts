import type { Ask, Call, Client, Notice, Principal } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Deadline } from "./deadline.ts";
import type { JsonObject } from "./json.ts";

/** What a call says of itself; how it ends and its way back to the caller are somebody's methods. */
export type CallMembers = Omit<Call, "signal" | "cancellation" | "notify" | "ask">;

/** Members that are put in the place of those of the call that one is made from. */
export type OwnMembers = Partial<Omit<CallMembers, "principal" | "client" | "door" | "meta" | "wants" | "models">>;

/**
 * A call that is made from another one, or from what a door read. A class, since accessors in an object literal make a hidden class for
 * each object, and those live, with all that they reach, until a full collection. Members are named one by one: a spread would lose what
 * the class of the other call defines, and would keep a cancellation that a new one replaces.
 */
export abstract class CallBase implements Call {
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
  readonly client: Client;
  readonly wants: Call["wants"];
  readonly relaysInput: boolean;
  readonly cancellation: Cancellation;

  constructor(from: CallMembers, own: OwnMembers, cancellation: Cancellation) {
    const parent = own.parent ?? from.parent;
    const depth = own.depth ?? from.depth;
    const deadline = own.deadline ?? from.deadline;
    if (parent !== undefined) this.parent = parent;
    if (depth !== undefined) this.depth = depth;
    if (from.models) this.models = from.models;
    if (deadline) this.deadline = deadline;
    this.id = own.id ?? from.id;
    this.door = from.door;
    this.method = own.method ?? from.method;
    this.target = own.target ?? from.target;
    this.params = own.params ?? from.params;
    this.arguments = own.arguments ?? from.arguments;
    this.meta = from.meta;
    this.principal = from.principal;
    this.client = from.client;
    this.wants = from.wants;
    this.relaysInput = own.relaysInput ?? from.relaysInput;
    this.cancellation = cancellation;
  }

  abstract get signal(): AbortSignal;
  abstract notify(notice: Notice): void;
  abstract ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
}
