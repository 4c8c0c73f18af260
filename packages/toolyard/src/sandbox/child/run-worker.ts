import type { ToWorker } from "../worker-messages.ts";

/** Why a worker ended. */
export interface WorkerEnd {
  /** `timeout` and `limit`: its supervisor ended it and supplies the message. */
  readonly reason: "ended" | "memory" | "crashed" | "timeout" | "limit";
  /** Cause, for the supervisor. */
  readonly detail: string;
}

/** One interpreter, in its own thread or process. It starts immediately; `ready` resolves when it accepts a job. */
export interface RunWorker {
  /** Never rejects: resolves with nothing once the worker waits for a job, and also when it ended before that. */
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  /** Sets the receiver of the worker's messages; there is one at a time. */
  listen(onMessage: ((message: unknown) => void) | undefined): void;
  send(message: ToWorker): void;
  /** Called when a job is over, before the next one: whether the worker accepts it, is still busy, or has ended. */
  afterJob(maxWaitMs: number): Promise<"free" | "busy" | "ended">;
  /** Processor time of the process that it is in, in milliseconds so far, where that is no other's. */
  computedMs?(): number;
  /** Ends it immediately, also during a run. */
  end(): void;
}
