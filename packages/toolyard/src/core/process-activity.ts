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
};
