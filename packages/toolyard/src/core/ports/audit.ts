import type { CallMethod } from "../calls/call.ts";
import type { FailKind } from "../calls/kinds.ts";
import type { JsonObject } from "../json/json.ts";

/** Facts in the lines of all events. */
interface AuditFacts {
  /** Time in ISO 8601 with milliseconds. */
  readonly time: string;
  /** Id of the caller. Absent if it is not known. */
  readonly principal?: string | undefined;
  /** Name of the client program, or id of the OAuth client. */
  readonly client?: string | undefined;
  /** Issuer of the caller's access token. */
  readonly issuer?: string | undefined;
  /** Endpoint that received the call or the credentials. */
  readonly endpoint?: string | undefined;
  /** Name of the profile through which the caller reached the hub. */
  readonly profile?: string | undefined;
  readonly kind: FailKind | "ok";
}

/** Line of the audit for a call. It has no result value. It has arguments only if the configuration enables them. */
export interface AuditLine extends AuditFacts {
  readonly call: string;
  /** Id of the call that made this call: code in the sandbox, `execute_tool`, the agent. */
  readonly parent?: string | undefined;
  readonly principal: string;
  readonly endpoint: string;
  readonly method: CallMethod;
  /** Rendered name of the tool, or the requested name if it did not resolve. */
  readonly target: string;
  readonly source?: string | undefined;
  /** `allowed`: the call was admitted. Absent if the name did not resolve. */
  readonly decision?: "allowed" | "denied" | "limited" | undefined;
  /** Rule that decided: `rights`, `scopes`, `consent`, or the exceeded limit. */
  readonly rule?: string | undefined;
  /** Owner of the credentials that the source uses for this call: the caller, or the hub's configuration. */
  readonly credentials?: "caller" | "hub" | undefined;
  readonly durationMs: number;
  /** Size as JSON. -1 for a value that JSON cannot represent. */
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly attempts: number;
}

/** Events of the audit other than calls. */
export type HubEventName = "sign_in" | "approval" | "configuration" | "administration" | "loss";

/** Line of the audit for an event other than a call. */
export interface HubEvent extends Omit<AuditFacts, "time"> {
  readonly event: HubEventName;
  /** Action within the event: `reload`, `stop`, `token`, `refused`. */
  readonly action: string;
  /** Decision of an approval. Absent if the hub refused the request. */
  readonly decision?: "approved" | "refused" | undefined;
  /** Id of the call that an approval is about. */
  readonly call?: string | undefined;
  /** Name of the tool, resource or prompt that an approval is about. */
  readonly target?: string | undefined;
  readonly source?: string | undefined;
  /** Further facts. They must not contain credentials. */
  readonly details?: JsonObject;
}

/** Receiver of events of the hub. Never throws, and never waits for a sink. */
export interface Audit {
  /** True if there is no sink, so that nothing is written. @default false */
  readonly isSilent?: boolean;
  /** Writes the line of a call. `args` are written only if the configuration enables them. */
  write(line: AuditLine, args?: JsonObject): void;
  record(event: HubEvent): void;
}
