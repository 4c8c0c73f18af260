import type { TaskSnapshot } from "./tasks.ts";

/** State of a schedule: a call of a tool at set times. */
export interface ScheduleState {
  readonly name: string;
  readonly cron: string;
  /** Time zone of the pattern. Absent: that of the machine. */
  readonly timezone?: string;
  readonly tool: string;
  readonly enabled: boolean;
  /** Time of the next run in ISO 8601. Absent if the schedule is disabled, has no further time, or no hub serves it. */
  readonly next?: string;
  /** Number of runs since the start of the hub that were skipped, because an earlier run was unfinished. */
  readonly skipped: number;
  /** Problem of the last run that could not start. */
  readonly problem?: { readonly at: string; readonly message: string };
  /** Runs that can still be read, the newest first. Each is a task. */
  readonly runs: readonly TaskSnapshot[];
}

/** Calls at set times. Each run is a task that belongs to the hub itself. */
export interface Schedules {
  /**
   * Starts the scheduled runs. The returned function stops them. If this is called several times, the runs stop when
   * all returned functions have been called.
   */
  begin(): () => void;
  /** Resolves with the state of all schedules, by name. */
  list(): Promise<readonly ScheduleState[]>;
  /**
   * Starts a run now, also of a disabled schedule. Resolves with its task, or with `undefined` if no schedule has this
   * name. Rejects with a `FailError` if the call is refused, or if an earlier run is unfinished.
   */
  run(name: string): Promise<TaskSnapshot | undefined>;
  /** Cancels the unfinished runs. Resolves with their number, or with `undefined` if no schedule has this name. */
  cancel(name: string): Promise<number | undefined>;
}
