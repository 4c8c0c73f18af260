import { cancellationOf, type ServerRequest, type Call, type CallNotification } from "./call.ts";
import { nextCallId } from "./call-id.ts";
import type { CallerLink } from "./caller-link.ts";
import type { Cancellation } from "./cancellation.ts";
import type { JsonObject } from "../json/json.ts";

/** Target and caller of a call, as its endpoint read them from the request. `Call` documents the members. */
export type CallSubject = Pick<Call, "method" | "target" | "params" | "arguments" | "meta" | "principal" | "mode">;

/** Members that replace those of the caller's link or of the outer call. */
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
    | "follows"
  >
> & {
  /**
   * False if this call must not become a task, although the outer caller offers to continue calls as tasks. @default
   * true
   */
  readonly offersTask?: boolean;
};

const NOTHING: CallOverrides = Object.freeze({});

/**
 * Call that consists of a request and the link to its caller. The caller may be another call. All calls are instances
 * of this class, so a new member of `Call` is added only here. A class is necessary: accessors in an object literal
 * create a hidden class for each object, and V8 keeps that class, with everything it references, until a full
 * collection. Members are copied one by one, since a spread would omit the accessors of the other call's class.
 */
export class BuiltCall implements Call {
  readonly id: string;
  // Set once, while the call is built.
  declare parent?: NonNullable<Call["parent"]>;
  declare depth?: number;
  declare models?: NonNullable<Call["models"]>;
  declare deadline?: NonNullable<Call["deadline"]>;
  declare taskOffer?: NonNullable<Call["taskOffer"]>;
  declare follows?: NonNullable<Call["follows"]>;
  declare requestSpan?: NonNullable<Call["requestSpan"]>;
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
    this.meta = this.#takeSpan(link, asked);
    this.principal = asked.principal;
    this.mode = own.mode ?? asked.mode;
    this.client = link.client;
    this.cancellation = own.cancellation ?? cancellationOf(link);
    this.wants = link.wants;
    this.relaysInput = own.relaysInput ?? link.relaysInput;
    this.#takeOptional(link, asked, own);
  }

  /** Takes the span of the request. Returns `_meta` with its context. */
  #takeSpan(link: CallerLink | Call, { meta }: CallSubject): JsonObject {
    // A call that another call made is not the request, and its `_meta` has the context of the other call.
    const span = "id" in link ? undefined : link.requestSpan;
    if (!span) return meta;
    this.requestSpan = span;
    return span.contextIn(meta);
  }

  /** Sets the optional members that have a value; the others stay absent. */
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
    if (link.taskOffer) this.#takeTask(link.taskOffer, own, outer);
  }

  #takeTask(taskOffer: NonNullable<Call["taskOffer"]>, own: CallOverrides, outer: CallOverrides): void {
    if (own.offersTask === false) return;
    const follows = own.follows ?? outer.follows;
    this.taskOffer = taskOffer;
    if (follows) this.follows = follows;
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
