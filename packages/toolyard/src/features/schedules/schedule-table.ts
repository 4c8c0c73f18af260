import type { Cron } from "croner";
import { LOCAL_PRINCIPAL, type Principal } from "../../core/calls/call.ts";
import { fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Schedules, ScheduleState } from "../../core/ports/schedules.ts";
import { isFinal, type Tasks, type TaskSnapshot } from "../../core/ports/tasks.ts";
import type { Schedule } from "./options.ts";

/** Owner of all runs. */
const SCHEDULER: Principal = Object.freeze({ ...LOCAL_PRINCIPAL, id: "schedules" });
/** Longest wait before the configuration and the clock are read again: it may have changed, or the machine slept. */
const MAX_WAIT_MS = 30_000;
/** A run that is later than this, because the machine slept, is skipped. */
const MAX_LATE_MS = 60 * 60 * 1000;

export interface ScheduleTableDeps {
  /** Returns the schedules of the current configuration. */
  readonly schedules: () => readonly Schedule[];
  readonly tasks: Pick<Tasks, "start" | "list" | "ready">;
  readonly logger: Logger;
}

/** Times of one schedule. */
interface Timetable {
  readonly schedule: Schedule;
  readonly cron: Cron;
  next: Date | null;
}

interface RunCounts {
  skipped: number;
  problem?: { readonly at: string; readonly message: string };
}

/** Starts a task at each time of each schedule, and remembers what could not start. */
export class ScheduleTable implements Schedules {
  readonly #deps: ScheduleTableDeps;
  readonly #counts = new Map<string, RunCounts>();
  #timetables = new Map<string, Timetable>();
  #known: readonly Schedule[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #users = 0;

  constructor(deps: ScheduleTableDeps) {
    this.#deps = deps;
  }

  begin(): () => void {
    this.#users += 1;
    if (this.#users === 1) void this.#wake();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#users -= 1;
      if (this.#users === 0) this.close();
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#users = 0;
    this.#known = undefined;
    this.#timetables = new Map();
  }

  async list(): Promise<readonly ScheduleState[]> {
    const { schedules, tasks } = this.#deps;
    await tasks.ready();
    const all = tasks.list(SCHEDULER);
    return schedules().map(({ name, cron, timezone, tool, enabled }) => {
      const { skipped = 0, problem } = this.#counts.get(name) ?? {};
      const next = this.#timetables.get(name)?.next?.toISOString();
      return {
        name,
        cron,
        ...(timezone !== undefined && { timezone }),
        tool,
        enabled,
        ...(next !== undefined && { next }),
        skipped,
        ...(problem && { problem }),
        runs: all.filter(({ endpoint }) => endpoint === endpointOf(name)),
      };
    });
  }

  async run(name: string): Promise<TaskSnapshot | undefined> {
    const schedule = this.#deps.schedules().find((one) => one.name === name);
    if (!schedule) return undefined;
    const running = await this.#unfinishedRun(schedule);
    if (!running) return await this.#start(schedule);
    const advice = "Wait for it, cancel it, or set `overlap = true`.";
    throw new FailError(fail("limited", `The run ${running.id} of this schedule is unfinished. ${advice}`));
  }

  /** Starts what is due, then waits for the next time. */
  async #wake(): Promise<void> {
    try {
      await this.#readSchedules();
      const now = Date.now();
      for (const timetable of this.#timetables.values()) this.#startIfDue(timetable, now);
    } catch (error) {
      this.#deps.logger.error("The schedules could not be read.", { error: messageOf(error) });
    }
    if (this.#users > 0) this.#wait();
  }

  #wait(): void {
    const times = Array.from(this.#timetables.values(), ({ next }) => next?.getTime() ?? Infinity);
    const waitMs = Math.min(MAX_WAIT_MS, Math.max(0, Math.min(...times, Infinity) - Date.now()));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#wake(), waitMs);
    this.#timer.unref();
  }

  /** Makes the timetables of a changed configuration. A schedule that stayed equal keeps its next time. */
  async #readSchedules(): Promise<void> {
    const schedules = this.#deps.schedules();
    if (schedules === this.#known) return;
    const enabled = schedules.filter((one) => one.enabled);
    const timetables = new Map<string, Timetable>();
    for (const schedule of enabled) {
      const before = this.#timetables.get(schedule.name);
      const isSame = before && JSON.stringify(before.schedule) === JSON.stringify(schedule);
      timetables.set(schedule.name, isSame ? before : await createTimetable(schedule));
    }
    this.#known = schedules;
    this.#timetables = timetables;
  }

  #startIfDue(timetable: Timetable, now: number): void {
    const { schedule, cron, next } = timetable;
    if (!next || next.getTime() > now) return;
    timetable.next = cron.nextRun(new Date(now));
    if (now - next.getTime() > MAX_LATE_MS)
      this.#deps.logger.warning("A scheduled run was skipped, because its time passed while the machine slept.", {
        schedule: schedule.name,
        time: next.toISOString(),
      });
    else void this.#startDue(schedule);
  }

  async #startDue(schedule: Schedule): Promise<void> {
    try {
      const running = await this.#unfinishedRun(schedule);
      if (running) this.#skip(schedule, running);
      else await this.#start(schedule);
    } catch {
      // `#start` has noted and logged the reason.
    }
  }

  #skip({ name }: Schedule, running: TaskSnapshot): void {
    this.#countsOf(name).skipped += 1;
    const facts = { schedule: name, unfinished: running.id };
    this.#deps.logger.warning("A scheduled run was skipped, because the earlier run is unfinished.", facts);
  }

  async #start({ name, tool, arguments: args }: Schedule): Promise<TaskSnapshot> {
    const counts = this.#countsOf(name);
    try {
      const call = { principal: SCHEDULER, endpoint: endpointOf(name), tool, arguments: args };
      const task = await this.#deps.tasks.start(call);
      delete counts.problem;
      return task;
    } catch (error) {
      counts.problem = { at: new Date().toISOString(), message: messageOf(error) };
      this.#deps.logger.warning("A scheduled run could not start.", { schedule: name, error: messageOf(error) });
      throw error;
    }
  }

  /** Returns the run that forbids another one. */
  async #unfinishedRun({ name, overlap }: Schedule): Promise<TaskSnapshot | undefined> {
    if (overlap) return undefined;
    const { tasks } = this.#deps;
    await tasks.ready();
    return tasks.list(SCHEDULER).find((task) => task.endpoint === endpointOf(name) && !isFinal(task));
  }

  #countsOf(name: string): RunCounts {
    const counts = this.#counts.get(name) ?? { skipped: 0 };
    this.#counts.set(name, counts);
    return counts;
  }
}

/** Returns the endpoint of the calls, by which the runs of a schedule are found after a restart. */
function endpointOf(name: string): string {
  return `schedule:${name}`;
}

async function createTimetable(schedule: Schedule): Promise<Timetable> {
  const { Cron } = await import("croner");
  const { cron: pattern, timezone } = schedule;
  const cron = new Cron(pattern, { paused: true, ...(timezone !== undefined && { timezone }) });
  return { schedule, cron, next: cron.nextRun() };
}
