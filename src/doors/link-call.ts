import type { Ask, Call, CallMethod, Client, Notice, Principal, ToolMode } from "../core/call.ts";
import { nextCallId } from "../core/call-id.ts";
import type { Cancellation } from "../core/cancellation.ts";
import type { Deadline } from "../core/deadline.ts";
import type { View } from "../core/hub-port.ts";
import type { JsonObject } from "../core/json.ts";
import type { CallerLink } from "./caller-link.ts";

/** What a call is about, and for whom, as its door read it. Members as in `Call`. */
export interface Asked {
  readonly method: CallMethod;
  readonly target: string;
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly view: View;
}

/**
 * A call that came over a link. A class, since accessors in an object literal make a hidden class for each object, and
 * those live, with all that they reach, until a full collection.
 */
export class LinkCall implements Call {
  readonly id = nextCallId();
  readonly door: string;
  readonly method: CallMethod;
  readonly target: string;
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly principal: Principal;
  readonly mode: ToolMode;
  readonly client: Client;
  readonly cancellation: Cancellation;
  declare readonly deadline?: Deadline;
  readonly wants: Call["wants"];
  readonly relaysInput: boolean;
  readonly #link: CallerLink;

  constructor(
    link: CallerLink,
    asked: Asked,
    {
      door = link.door,
      relaysInput = link.relaysInput,
    }: { readonly door?: string; readonly relaysInput?: boolean } = {},
  ) {
    this.#link = link;
    this.door = door;
    this.method = asked.method;
    this.target = asked.target;
    this.params = asked.params;
    this.arguments = asked.arguments;
    this.meta = asked.meta;
    this.principal = asked.view.principal;
    this.mode = asked.view.mode;
    this.client = link.client;
    this.cancellation = link.cancellation;
    if (link.deadline) this.deadline = link.deadline;
    this.wants = link.wants;
    this.relaysInput = relaysInput;
  }

  get signal(): AbortSignal {
    return this.#link.signal;
  }

  notify(notice: Notice): void {
    this.#link.notify(notice);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.#link.ask(ask, signal);
  }
}
