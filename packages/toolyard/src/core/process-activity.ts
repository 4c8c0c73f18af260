/** Current activity of this process, of all hubs in it. Plain counters, so that counting costs nothing measurable. */
export interface ProcessActivity {
  /** Calls in the pipeline, with inner calls. */
  calls: number;
  /** Entries that wait in a queue: for a tool or source with limited concurrency, or for the sandbox. */
  queued: number;
  /** Sessions of legacy clients. */
  sessions: number;
  /** Open streams of server-sent events. */
  streams: number;
  sandboxRuns: number;
  /** Audit lines that no target took, since the start. */
  auditLost: number;
}

export const processActivity: ProcessActivity = {
  calls: 0,
  queued: 0,
  sessions: 0,
  streams: 0,
  sandboxRuns: 0,
  auditLost: 0,
};
