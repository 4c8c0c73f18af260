import type { CallMethod } from "../calls/call.ts";
import type { FailKind } from "../calls/kinds.ts";

/** Line of the audit, one per call. It has no argument and no result value, only shapes and sizes. */
export interface AuditLine {
  /** ISO 8601 with milliseconds. */
  readonly time: string;
  readonly call: string;
  /** Id of the call that made this one: code in the sandbox, `execute_tool`, the agent. */
  readonly parent?: string;
  readonly endpoint: string;
  readonly principal: string;
  readonly method: CallMethod;
  /** Rendered name of the tool, or the requested name if it did not resolve. */
  readonly target: string;
  readonly source?: string;
  readonly kind: FailKind | "ok";
  readonly durationMs: number;
  /** Size as JSON; -1 for a value that JSON cannot write. */
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly attempts: number;
}

export interface Audit {
  write(line: AuditLine): void;
}
