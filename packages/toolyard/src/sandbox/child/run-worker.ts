import type { ToWorker } from "../worker-messages.ts";

/** Reason why a worker ended. */
export interface WorkerEnd {
  /** `timeout` and `limit`: the worker's supervisor ended it and supplies the message. */
  readonly reason: "ended" | "memory" | "crashed" | "timeout" | "limit";
  /** Cause, for the supervisor. */
  readonly detail: string;
}

/** One interpreter, in its own thread or process. It starts immediately; `ready` resolves when it accepts a job. */
export interface RunWorker {
  /** Resolves when the worker waits for a job, and also if it ended before. Never rejects. */
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  /** Sets the receiver of the worker's messages. There is only one receiver at a time. */
  listen(onMessage: ((message: unknown) => void) | undefined): void;
  send(message: ToWorker): void;
  /**
   * Waits after a job is over, before the next one. Resolves with `free` if the worker accepts the next job, `busy` if
   * it does not after `maxWaitMs` milliseconds, or `ended`.
   */
  afterJob(maxWaitMs: number): Promise<"free" | "busy" | "ended">;
  /** Returns the processor time of the worker's process in milliseconds. Absent if the process runs other code too. */
  computedMs?(): number;
  /** Ends the worker immediately, also during a run. */
  end(): void;
}
