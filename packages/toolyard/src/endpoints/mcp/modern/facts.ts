import type { Cancellation } from "../../../core/calls/cancellation.ts";
import type { Principal, ToolMode } from "../../../core/calls/call.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Holder } from "../../../core/fairness/shares.ts";
import type { Envelope } from "../../../wire/modern/envelope.ts";
import type { HeaderLookup } from "../../../wire/modern/headers.ts";

/** What is known of a modern request beyond its message. */
export interface RequestFacts {
  /** `mcp-http`, `mcp-stdio`. */
  readonly endpoint: string;
  readonly principal: Principal;
  /** The tool mode that this request asks for, else the server's default. */
  readonly mode: ToolMode;
  /** Aborted when the caller cancels this request, or goes before it is answered. */
  readonly signal: Cancellation;
  /** The lasting connection it came by, where there is one; see `Client.connection`. */
  readonly connection?: string | undefined;
  /** Headers of the request, to be compared with its body. Absent: the transport has none. */
  readonly headers?: HeaderLookup | undefined;
}

/** By whose share a place is taken for a request that lasts. */
export function holderIn({ principal, connection }: RequestFacts): Holder {
  return connection === undefined ? { principal: principal.id } : { principal: principal.id, connection };
}

/**
 * A request that brought its envelope. A class, since what is spread into an object literal was seen to live until a
 * full collection.
 */
export class AdmittedFacts implements RequestFacts {
  readonly endpoint: string;
  readonly principal: Principal;
  readonly mode: ToolMode;
  readonly signal: Cancellation;
  readonly connection: string | undefined;
  readonly headers: HeaderLookup | undefined;
  readonly envelope: Envelope;
  /** What is left of `_meta` without the envelope. */
  readonly meta: JsonObject;

  constructor(facts: RequestFacts, envelope: Envelope, meta: JsonObject) {
    this.endpoint = facts.endpoint;
    this.principal = facts.principal;
    this.mode = facts.mode;
    this.signal = facts.signal;
    this.connection = facts.connection;
    this.headers = facts.headers;
    this.envelope = envelope;
    this.meta = meta;
  }
}
