import type { Cron } from "croner";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Schedules, ScheduleState } from "../../core/ports/schedules.ts";
import { isFinal, type SharedRuns, type Tasks, type TaskSnapshot } from "../../core/ports/tasks.ts";
import type { Schedule } from "./options.ts";

/** Owner of all runs: the local caller. The runs have its sign-ins and rights. No token can have its name. */
const OWNER = LOCAL_PRINCIPAL;
/** Longest wait before the configuration and the clock are read again: it may have changed, or the machine slept. */
const MAX_WAIT_MS = 30_000;
/** Maximum delay of a run. A later run is skipped; runs are late if the machine slept. */
const MAX_LATE_MS = 60 * 60 * 1000;

export interface ScheduleTableDeps {
  /** Returns the schedules of the current configuration. */
  readonly schedules: () => readonly Schedule[];
  readonly tasks: Pick<Tasks, "start" | "list" | "get" | "cancel" | "ready" | "sharedRuns">;
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

/** Starts a task at each time of each schedule, and records the problem of a run that could not start. */
export class ScheduleTable implements Schedules {
  readonly #deps: ScheduleTableDeps;
  readonly #counts = new Map<string, RunCounts>();
  #timetables = new Map<string, Timetable>();
  /** Names of schedules with a run that is being started. */
  readonly #starting = new Set<string>();
  #known: readonly Schedule[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #users = 0;
  /** Stops serving the runs that hubs share. Present while this hub starts them. */
  #serving: Promise<() => Promise<void>> | undefined;

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
    void this.#serving?.then((end) => end()).catch(() => {});
    this.#serving = undefined;
  }

  /** Starts runs that the hubs of the store offer. The hub that gets a run starts it for all. */
  #serveShared(runs: SharedRuns): void {
    this.#serving ??= runs.serve(async (name) => {
      const schedule = this.#deps.schedules().find((one) => one.name === name && one.enabled);
      if (schedule) await this.#startDue(schedule);
    });
    this.#serving.catch((error: unknown) => {
      this.#serving = undefined;
      this.#deps.logger.error("Scheduled runs cannot be shared with the other hubs.", { error: messageOf(error) });
    });
  }

  async list(): Promise<readonly ScheduleState[]> {
    const { schedules, tasks } = this.#deps;
    await tasks.ready({ principal: OWNER });
    const all = tasks.list(OWNER);
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
    const task = await this.#startUnlessRunning(schedule);
    if (task) return task;
    const advice = `Wait for it, end it with \`toolyard schedules cancel ${name}\`, or set \`overlap = true\`.`;
    throw new FailError(fail("limited", `A run of this schedule is unfinished. ${advice}`));
  }

  async cancel(name: string): Promise<number | undefined> {
    if (!this.#deps.schedules().some((one) => one.name === name)) return undefined;
    const running = await this.#unfinishedRuns(name);
    return running.filter(({ id }) => this.#deps.tasks.cancel(id, OWNER)).length;
  }

  /** Starts the due runs, then waits for the next time. */
  async #wake(): Promise<void> {
    try {
      await this.#readSchedules();
      if (this.#users === 0) return this.close();
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
    const timetables = new Map<string, Timetable>();
    for (const schedule of schedules.filter((one) => one.enabled)) {
      const before = this.#timetables.get(schedule.name);
      const isSame = before && stringifyExact(before.schedule) === stringifyExact(schedule);
      const timetable = isSame ? before : await this.#createTimetable(schedule);
      if (timetable) timetables.set(schedule.name, timetable);
    }
    this.#known = schedules;
    this.#timetables = timetables;
    const { sharedRuns } = this.#deps.tasks;
    if (sharedRuns && timetables.size > 0 && this.#users > 0) this.#serveShared(sharedRuns);
  }

  /** If the times of a schedule cannot be computed, only this schedule does not run. */
  async #createTimetable(schedule: Schedule): Promise<Timetable | undefined> {
    const { name, cron: pattern, timezone } = schedule;
    try {
      const { Cron } = await import("croner");
      const cron = new Cron(pattern, { paused: true, ...(timezone !== undefined && { timezone }) });
      return { schedule, cron, next: cron.nextRun() };
    } catch (error) {
      this.#note(name, error);
      return undefined;
    }
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
    else void this.#startOrOffer(schedule, next);
  }

  /** Starts a run, or offers it to all hubs of the store, one of which starts it. */
  async #startOrOffer(schedule: Schedule, time: Date): Promise<void> {
    const { sharedRuns } = this.#deps.tasks;
    if (!sharedRuns) return await this.#startDue(schedule);
    try {
      await sharedRuns.offer(schedule.name, time);
    } catch (error) {
      this.#note(schedule.name, error);
    }
  }

  async #startDue(schedule: Schedule): Promise<void> {
    try {
      if (!(await this.#startUnlessRunning(schedule))) this.#skip(schedule);
    } catch (error) {
      this.#note(schedule.name, error);
    }
  }

  #skip({ name: schedule }: Schedule): void {
    this.#countsOf(schedule).skipped += 1;
    this.#deps.logger.warning("A scheduled run was skipped, because the earlier run is unfinished.", { schedule });
  }

  /** Starts a run. Resolves with `undefined` if an earlier run is unfinished or being started, unless runs overlap. */
  async #startUnlessRunning(schedule: Schedule): Promise<TaskSnapshot | undefined> {
    const { name, overlap } = schedule;
    if (overlap) return await this.#start(schedule);
    if (this.#starting.has(name)) return undefined;
    this.#starting.add(name);
    try {
      const running = await this.#unfinishedRuns(name);
      return running.length > 0 ? undefined : await this.#start(schedule);
    } finally {
      this.#starting.delete(name);
    }
  }

  async #start({ name, tool, arguments: args }: Schedule): Promise<TaskSnapshot> {
    const call = { principal: OWNER, endpoint: endpointOf(name), tool, arguments: args };
    const task = await this.#deps.tasks.start(call);
    delete this.#countsOf(name).problem;
    return task;
  }

  /**
   * Returns the unfinished runs. Reading a run that an earlier hub left unfinished repeats its call if the tool is
   * idempotent.
   */
  async #unfinishedRuns(name: string): Promise<readonly TaskSnapshot[]> {
    const { tasks } = this.#deps;
    await tasks.ready({ principal: OWNER });
    const isOpen = (task: TaskSnapshot): boolean => task.endpoint === endpointOf(name) && !isFinal(task);
    return tasks
      .list(OWNER)
      .filter(isOpen)
      .flatMap(({ id }) => tasks.get(id, OWNER) ?? [])
      .filter(isOpen);
  }

  /** Remembers and logs why a run could not start. */
  #note(schedule: string, error: unknown): void {
    const message = messageOf(error);
    this.#countsOf(schedule).problem = { at: new Date().toISOString(), message };
    this.#deps.logger.warning("A scheduled run could not start.", { schedule, error: message });
  }

  #countsOf(name: string): RunCounts {
    const counts = this.#counts.get(name) ?? { skipped: 0 };
    this.#counts.set(name, counts);
    return counts;
  }
}

/**
 * Returns the endpoint name of a schedule's calls. After a restart, the runs of the schedule are found by this name.
 */
function endpointOf(name: string): string {
  return `schedule:${name}`;
}
