import type { Call } from "../../core/calls/call.ts";
import { callWithin } from "../../core/calls/call-within.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Models } from "../../core/ports/models.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { SearchAnswer } from "../../core/ports/ports.ts";

/** The hub's functions for code in child processes. */
export interface HubPorts {
  readonly innerHub: InnerHub;
  readonly models: Models;
}

/** The hub's functions for one running call: with the rights of its caller, and within its time. */
export interface HubAccess {
  readonly models: Models;
  /** `_meta` of the running call, with its trace context. @default none */
  readonly meta?: JsonObject;
  /** Calls a tool. `signal` cancels only this call; the end of the running call always cancels it. */
  call(tool: string, args: JsonObject, signal: AbortSignal): Promise<Outcome>;
  read(uri: string, signal: AbortSignal): Promise<Outcome>;
  search(query: string, limit: number): Promise<SearchAnswer>;
  list(): Promise<readonly JsonObject[]>;
}

export function accessFor(parent: Call, { innerHub, models }: HubPorts): HubAccess {
  return {
    models: modelsFor(parent, models),
    meta: parent.meta,
    call: (tool, args, signal) => innerHub.call({ tool, arguments: args }, callWithin(parent, signal)),
    read: (uri, signal) => innerHub.read(uri, callWithin(parent, signal)),
    search: (query, limit) => innerHub.search(query, parent, { limit }),
    list: () => innerHub.list(parent),
  };
}

/**
 * Returns the models for a call. Models of the calling program take precedence over configured ones, separately for
 * each kind.
 */
export function modelsFor({ models: lent }: Call, configured: Models): Models {
  if (!lent) return configured;
  return {
    generateImage: lent.generateImage ?? configured.generateImage,
    generateText: lent.generateText ?? configured.generateText,
  };
}
