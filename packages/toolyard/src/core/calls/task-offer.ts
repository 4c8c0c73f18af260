/** Tool of a running call, and the time after which the call becomes a task, for a caller that supports tasks. */
export interface TaskPlan {
  /** Milliseconds after which the running call becomes a task. 0: immediately. */
  readonly afterMs: number;
  /** Name of the tool as callers see it. */
  readonly tool: string;
  readonly isIdempotent: boolean;
}

/**
 * Task of an upstream server that runs a call. Plain data, so that it can be stored and followed by a later hub.
 * Callers never get the id of the upstream server.
 */
export interface UpstreamTask {
  /** Id of the source. */
  readonly source: string;
  readonly taskId: string;
  /** Era of the methods that read the task. */
  readonly era: "legacy" | "modern";
  /** Name of the tool as callers see it, if a tool of the hub called it for the caller. */
  readonly target?: string;
}

/** Offer of a caller to continue the call as a task. Absent if the caller did not declare tasks. */
export interface TaskOffer {
  /**
   * Sets the plan. Called when the target is known and the caller may use it. A later plan applies only if it is
   * sooner.
   */
  accept(plan: TaskPlan): void;
  /**
   * Reports that an upstream server runs the call as a task. If the call may become a task, it does so immediately, and
   * the task can be followed after a restart of the hub. @default the hub waits for the end of the upstream's task
   */
  delegated?(task: UpstreamTask): void;
  /** True if the caller does not wait for a result. The call then fails if it may not become a task. */
  readonly isRequired?: boolean;
}
