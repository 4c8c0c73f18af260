/**
 * Limits that refuse calls: calls a minute, concurrent calls of a client, clients at a time, the store, the queue of a
 * tool. `other`: a limit of the source, or another limit of the hub.
 */
export const CALL_LIMITS = ["rate", "in-flight", "full", "store", "queue", "other"] as const;
export type CallLimit = (typeof CALL_LIMITS)[number];

/** Current activity of this process, for all hubs in it. They are plain counters, because every call updates them. */
export interface ProcessActivity {
  /** Number of calls in the pipeline, including inner calls. */
  calls: number;
  /** Number of entries that wait in a queue: for a tool or source with limited concurrency, or for the sandbox. */
  queued: number;
  /** Number of sessions of legacy clients. */
  sessions: number;
  /** Number of open streams of server-sent events. */
  streams: number;
  sandboxRuns: number;
  /** Number of audit lines since the start that no target accepted. */
  auditLost: number;
  /** Number of spans, log records and metric batches since the start that no collector accepted. */
  telemetryLost: number;
  /** Number of commands to the shared store since the start that ended, and how many of them failed. */
  storeCommands: number;
  storeFailures: number;
  /** Sum of the times until the shared store answered these commands, in milliseconds. */
  storeMs: number;
  /** Number of searches for tools since the start that ended, and the sum of their times in milliseconds. */
  searches: number;
  searchMs: number;
  /** Number of calls since the start that a limit refused. */
  limited: Record<CallLimit, number>;
}

export const processActivity: ProcessActivity = {
  calls: 0,
  queued: 0,
  sessions: 0,
  streams: 0,
  sandboxRuns: 0,
  auditLost: 0,
  telemetryLost: 0,
  storeCommands: 0,
  storeFailures: 0,
  storeMs: 0,
  searches: 0,
  searchMs: 0,
  limited: { rate: 0, "in-flight": 0, full: 0, store: 0, queue: 0, other: 0 },
};

/** Counts a call that a limit refused. A limit with an unknown name is counted as `other`. */
export function countLimited(limit: unknown): void {
  processActivity.limited[CALL_LIMITS.find((one) => one === limit) ?? "other"] += 1;
}
