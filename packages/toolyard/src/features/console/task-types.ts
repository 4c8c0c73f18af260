// The part of the contract of `/api/admin` about tasks and schedules. The page imports this file, so it imports only
// types of the contract.
import type { JsonValues } from "./api-types.ts";

/** `GET tasks`: `{tasks: TaskRow[]}`, newest first. Only tasks of the caller. */
export interface TaskRow {
  readonly id: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  /** Last progress message, or the reason of a failure. */
  readonly statusMessage?: string;
  readonly tool: string;
  readonly endpoint: string;
  /** ISO 8601 */
  readonly createdAt: string;
  /** ISO 8601 */
  readonly updatedAt: string;
  /** True if the tool reported an error in its result. */
  readonly isError: boolean;
}

/** `GET tasks/{id}`; also the answer of `POST tasks`, `POST tasks/{id}/input` and `DELETE tasks/{id}`. */
export interface TaskDetail extends TaskRow {
  /** Open server requests by key, in the form `{method, params}`. */
  readonly inputRequests?: Readonly<Record<string, JsonValues>>;
  /** MCP's whole result. */
  readonly result?: JsonValues;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Body of `POST tasks`. */
export interface NewTask {
  readonly tool: string;
  readonly arguments?: JsonValues;
}

/** `GET schedules`: `{schedules: ScheduleRow[]}`, with runs that have no result; `GET schedules/{name}` has them. */
export interface ScheduleRow {
  readonly name: string;
  readonly cron: string;
  /** @default the time zone of the hub's machine */
  readonly timezone?: string;
  readonly tool: string;
  readonly enabled: boolean;
  /** ISO 8601. Absent: the schedule has no further run. */
  readonly next?: string;
  /** Runs that were skipped, because an earlier run was unfinished. */
  readonly skipped: number;
  /** Problem of the last run that could not start. */
  readonly problem?: { readonly at: string; readonly message: string };
  /** Newest first. */
  readonly runs: readonly TaskDetail[];
}

/** `GET calls/stored?event=&principal=&client=&tool=&source=&outcome=&since=&until=&limit=` */
export interface StoredCalls {
  /** False if the configuration has no `[audit] file`. */
  readonly hasAudit: boolean;
  /** Lines of the audit, newest first. They have `arguments` only if `[audit] arguments` is set. */
  readonly entries: readonly JsonValues[];
  /** True if only the newest part of the audit was searched. */
  readonly isPart: boolean;
}
