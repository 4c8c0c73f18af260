import { cancellationOf, type ServerRequest, type Call, type CallNotification } from "./call.ts";
import { nextCallId } from "./call-id.ts";
import type { CallerLink } from "./caller-link.ts";
import type { Cancellation } from "./cancellation.ts";
import type { JsonObject } from "../json/json.ts";

/** What a call is about, and for whom, as its door read it. Members as in `Call`. */
export type CallSubject = Pick<Call, "method" | "target" | "params" | "arguments" | "meta" | "principal" | "mode">;

/** What a call has in place of what its way back, or the call that it stands for, would give it. */
export type CallOverrides = Partial<
  Pick<
    Call,
    | "id"
    | "parent"
    | "depth"
    | "mode"
    | "endpoint"
    | "method"
    | "target"
    | "params"
    | "arguments"
    | "models"
    | "deadline"
    | "relaysInput"
    | "cancellation"
  >
>;

const NOTHING: CallOverrides = Object.freeze({});

/**
 * A call: what is asked for, and the way back to whoever asks, which may be another call. Every call is one of these,
 * so a new member of `Call` is added here and nowhere else. A class, since accessors in an object literal make a hidden
 * class for each object, and those live, with all that they reach, until a full collection. Members are named one by
 * one, since a spread would lose those that the class of the other call defines.
 */
export class BuiltCall implements Call {
  readonly id: string;
  // Set once, while the call is made.
  declare parent?: NonNullable<Call["parent"]>;
  declare depth?: number;
  declare models?: NonNullable<Call["models"]>;
  declare deadline?: NonNullable<Call["deadline"]>;
  readonly endpoint: string;
  readonly method: Call["method"];
  readonly target: string;
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly principal: Call["principal"];
  readonly mode: Call["mode"];
  readonly client: Call["client"];
  readonly cancellation: Cancellation;
  readonly wants: Call["wants"];
  readonly relaysInput: boolean;
  readonly #link: CallerLink | Call;

  constructor(link: CallerLink | Call, asked: CallSubject | Call, own: CallOverrides = NOTHING) {
    this.#link = link;
    this.id = own.id ?? ("id" in asked ? asked.id : nextCallId());
    this.endpoint = own.endpoint ?? link.endpoint;
    this.method = own.method ?? asked.method;
    this.target = own.target ?? asked.target;
    this.params = own.params ?? asked.params;
    this.arguments = own.arguments ?? asked.arguments;
    this.meta = asked.meta;
    this.principal = asked.principal;
    this.mode = own.mode ?? asked.mode;
    this.client = link.client;
    this.cancellation = own.cancellation ?? cancellationOf(link);
    this.wants = link.wants;
    this.relaysInput = own.relaysInput ?? link.relaysInput;
    this.#takeOptional(link, asked, own);
  }

  /** Members that a call need not have are absent where nobody gave them. */
  #takeOptional(link: CallerLink | Call, asked: CallSubject | Call, own: CallOverrides): void {
    const outer: CallOverrides = "id" in asked ? asked : NOTHING;
    const parent = own.parent ?? outer.parent;
    const depth = own.depth ?? outer.depth;
    const models = own.models ?? outer.models;
    const deadline = own.deadline ?? link.deadline;
    if (parent !== undefined) this.parent = parent;
    if (depth !== undefined) this.depth = depth;
    if (models) this.models = models;
    if (deadline) this.deadline = deadline;
  }

  get signal(): AbortSignal {
    return this.#link.signal;
  }

  notify(notification: CallNotification): void {
    this.#link.notify(notification);
  }

  ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
    return this.#link.ask(ask, signal);
  }
}
