import type { CallMethod } from "../calls/call.ts";
import type { FailKind } from "../calls/kinds.ts";
import type { JsonObject } from "../json/json.ts";

/** Facts that lines of all events share. */
interface AuditFacts {
  /** Time in ISO 8601 with milliseconds. */
  readonly time: string;
  /** Id of the caller; absent if it is not known. */
  readonly principal?: string;
  /** Name of the client program, or id of the OAuth client. */
  readonly client?: string;
  /** Issuer of the caller's access token. */
  readonly issuer?: string;
  /** Endpoint that received the call or the credentials. */
  readonly endpoint?: string;
  /** Name of the profile through which the caller reached the hub. */
  readonly profile?: string;
  readonly kind: FailKind | "ok";
}

/** Line of the audit for a call. It has no result value, and arguments only if the configuration enables them. */
export interface AuditLine extends AuditFacts {
  readonly call: string;
  /** Id of the call that made this call: code in the sandbox, `execute_tool`, the agent. */
  readonly parent?: string;
  readonly principal: string;
  readonly endpoint: string;
  readonly method: CallMethod;
  /** Rendered name of the tool, or the requested name if it did not resolve. */
  readonly target: string;
  readonly source?: string;
  /** `allowed`: the call was admitted. Absent if it led to no tool. */
  readonly decision?: "allowed" | "denied" | "limited";
  /** Rule that decided: `rights`, `scopes`, `consent`, or the exceeded limit. */
  readonly rule?: string;
  /** Credentials that the source uses for this call: those of the caller, or those of the hub's configuration. */
  readonly credentials?: "caller" | "hub";
  readonly durationMs: number;
  /** Size as JSON. -1 for a value that JSON cannot represent. */
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly attempts: number;
}

/** Events of the audit besides calls. */
export type HubEventName = "sign_in" | "approval" | "configuration" | "administration" | "loss";

/** Line of the audit for an event besides a call. */
export interface HubEvent extends Omit<AuditFacts, "time"> {
  readonly event: HubEventName;
  /** Action within the event: `reload`, `stop`, `token`, `refused`. */
  readonly action: string;
  readonly source?: string;
  /** Further facts. They must not contain a credential. */
  readonly details?: JsonObject;
}

/** Receives events that happen in the hub. Never throws, and never waits for a sink. */
export interface Audit {
  /** True if there is no sink: nothing is written. @default false */
  readonly isSilent?: boolean;
  /** Writes the line of a call. `args` are written only if the configuration enables them. */
  write(line: AuditLine, args?: JsonObject): void;
  record(event: HubEvent): void;
}
