/** How the hub treats a call of a caller that supports tasks. */
export interface TaskPlan {
  /** Milliseconds after which the running call becomes a task; 0: at once. */
  readonly afterMs: number;
  /** Name of the tool as callers see it. */
  readonly tool: string;
  readonly isIdempotent: boolean;
}

/** The offer of a caller to continue the call as a task. Absent on calls whose caller did not declare tasks. */
export interface TaskOffer {
  /** Called once the target is known and the caller may use it. A later plan counts only if it is sooner. */
  accept(plan: TaskPlan): void;
  /** True if the caller does not wait for a result, so that the call fails if it may not become a task. */
  readonly isRequired?: boolean;
}
