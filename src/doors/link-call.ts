import type { Ask, Call, Notice } from "../core/call.ts";
import { CallBase } from "../core/call-base.ts";
import { nextCallId } from "../core/call-id.ts";
import type { JsonObject } from "../core/json.ts";
import type { CallerLink } from "./caller-link.ts";

/** What a call is about, as its door read it. */
export type Asked = Pick<Call, "method" | "target" | "params" | "arguments" | "meta" | "principal">;

/** A call that came over a link. */
export class LinkCall extends CallBase {
  readonly #link: CallerLink;

  constructor(link: CallerLink, asked: Asked, { door = link.door, relaysInput = link.relaysInput }: { readonly door?: string; readonly relaysInput?: boolean } = {}) {
    const { client, wants, deadline } = link;
    super({ ...asked, id: nextCallId(), door, client, wants, relaysInput }, deadline ? { deadline } : NOTHING, link.cancellation);
    this.#link = link;
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

const NOTHING = Object.freeze({});
