import type { Ask, Client, Notice } from "../core/call.ts";
import type { Cancellation } from "../core/cancellation.ts";
import type { Deadline } from "../core/deadline.ts";
import type { JsonObject } from "../core/json.ts";

/** The way back to the caller of one request. Members as in `Call`. */
export interface CallerLink {
  readonly door: string;
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly cancellation: Cancellation;
  readonly deadline?: Deadline;
  readonly wants: { readonly progress: boolean; readonly logLevel?: string };
  readonly relaysInput: boolean;
  notify(notice: Notice): void;
  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject>;
}
