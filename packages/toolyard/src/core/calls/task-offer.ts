/** Treatment of a call if its caller supports tasks. */
export interface TaskPlan {
  /** Milliseconds after which the running call becomes a task. 0: immediately. */
  readonly afterMs: number;
  /** Name of the tool as callers see it. */
  readonly tool: string;
  readonly isIdempotent: boolean;
}

/** Offer of a caller to continue the call as a task. Absent on calls whose caller did not declare tasks. */
export interface TaskOffer {
  /**
   * Sets the plan. Called when the target is known and the caller may use it. A later plan applies only if it is
   * sooner.
   */
  accept(plan: TaskPlan): void;
  /** True if the caller does not wait for a result. The call then fails if it may not become a task. */
  readonly isRequired?: boolean;
}
