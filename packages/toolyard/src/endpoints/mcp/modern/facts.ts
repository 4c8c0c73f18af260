import type { McpAnswer } from "../answers.ts";
import type { Cancellation } from "../../../core/calls/cancellation.ts";
import type { Principal, ToolMode } from "../../../core/calls/call.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Span } from "../../../core/ports/tracing.ts";
import type { Holder } from "../../../core/fairness/shares.ts";
import type { Envelope } from "../../../wire/modern/envelope.ts";
import type { HeaderLookup } from "../../../wire/modern/headers.ts";

/** Known facts about a modern request besides its message. */
export interface RequestFacts {
  /** Name of the transport: `mcp-http`, `mcp-stdio`. */
  readonly endpoint: string;
  readonly principal: Principal;
  /** Tool mode that this request selects, otherwise the server's default. */
  readonly mode: ToolMode;
  /** Aborted when the caller cancels this request, or disconnects before the answer. */
  readonly signal: Cancellation;
  /** Lasting connection over which the request arrived, if any; see `Client.connection`. */
  readonly connection?: string | undefined;
  /** Headers of the request, which are compared with its body. Absent: the transport has none. */
  readonly headers?: HeaderLookup | undefined;
}

/** Returns the holder to whose share a long-lived request counts. */
export function holderIn({ principal, connection }: RequestFacts): Holder {
  return connection === undefined ? { principal: principal.id } : { principal: principal.id, connection };
}

/**
 * Request with a valid envelope. A class, because members that are spread into an object literal stay in memory until a
 * full garbage collection.
 */
export class AdmittedFacts implements RequestFacts {
  readonly endpoint: string;
  readonly principal: Principal;
  readonly mode: ToolMode;
  readonly signal: Cancellation;
  readonly connection: string | undefined;
  readonly headers: HeaderLookup | undefined;
  readonly envelope: Envelope;
  /** `_meta` without the envelope. */
  readonly meta: JsonObject;
  /** Called with the answer before it is sent. Absent: the request is not recorded. */
  declare onAnswer?: (answer: McpAnswer) => void;
  /** Absent: the request is not recorded. */
  declare requestSpan?: Span;

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
