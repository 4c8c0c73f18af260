import type { Call } from "../../core/calls/call.ts";
import { callWithin } from "../../core/calls/call-within.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Models } from "../../core/ports/models.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { SearchAnswer } from "../../core/ports/ports.ts";

/** What the hub lends to those whose code runs in children. */
export interface HubPorts {
  readonly innerHub: InnerHub;
  readonly models: Models;
}

/** What one running call may do with the hub: with its caller's rights, inside its time. */
export interface HubAccess {
  readonly models: Models;
  /** `signal` ends this one call; it ends with the running call anyway. */
  call(tool: string, args: JsonObject, signal: AbortSignal): Promise<Outcome>;
  read(uri: string, signal: AbortSignal): Promise<Outcome>;
  search(query: string, limit: number): Promise<SearchAnswer>;
  list(): Promise<readonly JsonObject[]>;
}

export function accessFor(parent: Call, { innerHub, models }: HubPorts): HubAccess {
  return {
    models: modelsFor(parent, models),
    call: (tool, args, signal) => innerHub.call({ tool, arguments: args }, callWithin(parent, signal)),
    read: (uri, signal) => innerHub.read(uri, callWithin(parent, signal)),
    search: (query, limit) => innerHub.search(query, parent, { limit }),
    list: () => innerHub.list(parent),
  };
}

/** What the calling program lends goes before what is configured, each kind of model by itself. */
export function modelsFor({ models: lent }: Call, configured: Models): Models {
  if (!lent) return configured;
  return {
    generateImage: lent.generateImage ?? configured.generateImage,
    generateText: lent.generateText ?? configured.generateText,
  };
}
