import type { ToWorker } from "../worker-messages.ts";

/** Why a worker is gone. */
export interface WorkerEnd {
  /** `timeout` and `limit`: it was ended by whoever watches it, who gives the words. */
  readonly reason: "ended" | "memory" | "crashed" | "timeout" | "limit";
  /** What it died of, for the one who started it. */
  readonly detail: string;
}

/** One interpreter, in a thread or a process of its own. Starts at once; `ready` says when it takes a job. */
export interface RunWorker {
  /** Never rejects: resolves with nothing once the worker waits for a job, and also when it ended before that. */
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  /** Who hears what the worker says, one at a time. */
  listen(onMessage: ((message: unknown) => void) | undefined): void;
  send(message: ToWorker): void;
  /**
   * Asked when a job is over, before it is given another one: whether it takes it, goes on with something, or ended.
   */
  afterJob(maxWaitMs: number): Promise<"free" | "busy" | "ended">;
  /** Processor time of the process that it is in, in milliseconds so far, where that is no other's. */
  computedMs?(): number;
  /** Ends it in the middle of whatever it does. */
  end(): void;
}
