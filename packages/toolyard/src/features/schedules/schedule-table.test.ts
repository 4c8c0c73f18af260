import { Cron } from "croner";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fail } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { StartedCall, TaskSnapshot, TaskStatus } from "../../core/ports/tasks.ts";
import { resolveSchedules, type Schedule, type ScheduleReads } from "./options.ts";
import { ScheduleTable } from "./schedule-table.ts";

/** Tasks whose runs the test ends. */
class ControlledTasks {
  readonly started: StartedCall[] = [];
  readonly runs: TaskSnapshot[] = [];
  refusal: FailError | undefined;

  async ready(): Promise<void> {}

  list(): readonly TaskSnapshot[] {
    return this.runs.toReversed();
  }

  get(id: string): TaskSnapshot | undefined {
    return this.runs.find((run) => run.id === id);
  }

  cancel(id: string): boolean {
    const at = this.runs.findIndex((run) => run.id === id);
    this.runs[at] = { ...this.runs[at]!, status: "cancelled" };
    return true;
  }

  async start(call: StartedCall): Promise<TaskSnapshot> {
    if (this.refusal) throw this.refusal;
    this.started.push(call);
    const now = new Date().toISOString();
    const { tool, endpoint } = call;
    const times = { createdAt: now, updatedAt: now, ttlMs: 1000, pollIntervalMs: 1000 };
    const task: TaskSnapshot = { id: String(this.started.length), status: "working", tool, endpoint, ...times };
    this.runs.push(task);
    return task;
  }

  end(status: TaskStatus = "completed"): void {
    this.runs[this.runs.length - 1] = { ...this.runs.at(-1)!, status };
  }
}

const messages: string[] = [];
const note = (message: string): void => void messages.push(message);
const logger = { info: note, warning: note, error: note, debug: note } as unknown as Logger;

let schedules: readonly Schedule[];
let tasks: ControlledTasks;
let table: ScheduleTable;

function configure(entries: ScheduleReads["schedules"]): void {
  schedules = resolveSchedules({ schedules: entries ?? {} });
}

/** Advances the clock, and lets the started work continue. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const MINUTE = 60_000;

beforeEach(() => {
  // The library is loaded before the clock is replaced, because loading takes real time.
  expect(new Cron("* * * * *").nextRun()).toBeInstanceOf(Date);
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 0, 0, 30) });
  messages.length = 0;
  tasks = new ControlledTasks();
  table = new ScheduleTable({ schedules: () => schedules, tasks, logger });
});

afterEach(() => {
  table.close();
  vi.useRealTimers();
});

const EVERY_MINUTE = { cron: "* * * * *", tool: "report", timezone: "UTC" };

test("a run starts at each scheduled time with the schedule's arguments, but only while a hub serves", async () => {
  configure({ report: { ...EVERY_MINUTE, arguments: { year: 2026 }, overlap: true } });
  await pass(5 * MINUTE);
  expect(tasks.started).toEqual([]);
  const end = table.begin();
  await pass(2 * MINUTE);
  const call = { tool: "report", endpoint: "schedule:report", arguments: { year: 2026 } };
  expect(tasks.started).toMatchObject([call, call]);
  end();
  await pass(5 * MINUTE);
  expect(tasks.started).toHaveLength(2);
});

test("a run is skipped while the earlier run is unfinished", async () => {
  configure({ report: EVERY_MINUTE });
  table.begin();
  await pass(3 * MINUTE);
  expect(tasks.started).toHaveLength(1);
  expect(await table.list()).toMatchObject([{ skipped: 2, runs: [{ id: "1" }] }]);
  tasks.end();
  await pass(MINUTE);
  expect(tasks.started).toHaveLength(2);
});

test("runs overlap with `overlap = true`", async () => {
  configure({ report: { ...EVERY_MINUTE, overlap: true } });
  table.begin();
  await pass(3 * MINUTE);
  expect(tasks.started).toHaveLength(3);
});

test("a disabled schedule starts no run, but can be run by hand", async () => {
  configure({ report: { ...EVERY_MINUTE, enabled: false } });
  table.begin();
  await pass(3 * MINUTE);
  expect(tasks.started).toEqual([]);
  expect((await table.run("report"))?.id).toBe("1");
});

test("a run by hand is refused while the earlier run is unfinished, and unknown names have no run", async () => {
  configure({ report: EVERY_MINUTE });
  await table.run("report");
  await expect(table.run("report")).rejects.toMatchObject({ failure: { kind: "limited" } });
  expect(await table.run("other")).toBeUndefined();
});

test("a refused call is a problem of the schedule until a run starts", async () => {
  configure({ report: EVERY_MINUTE });
  tasks.refusal = new FailError(fail("unknown_tool", "There is no tool `report`."));
  table.begin();
  await pass(MINUTE);
  expect(await table.list()).toMatchObject([{ problem: { message: "There is no tool `report`." }, runs: [] }]);
  expect(messages).toContain("A scheduled run could not start.");
  tasks.refusal = undefined;
  await pass(MINUTE);
  expect((await table.list())[0]).not.toHaveProperty("problem");
});

test("a changed configuration applies within half a minute; equal schedules keep their time", async () => {
  configure({ report: { ...EVERY_MINUTE, cron: "0 12 * * *" } });
  table.begin();
  await pass(MINUTE);
  configure({ report: { ...EVERY_MINUTE, cron: "0 12 * * *" }, often: { ...EVERY_MINUTE, tool: "ping" } });
  await pass(2 * MINUTE);
  expect(tasks.started.map(({ tool }) => tool)).toEqual(["ping"]);
  expect(await table.list()).toMatchObject([{ name: "often" }, { name: "report", next: "2026-01-01T12:00:00.000Z" }]);
});

test("a time that passed while the machine slept starts one run if it is at most an hour late", async () => {
  configure({ report: { ...EVERY_MINUTE, overlap: true } });
  table.begin();
  await pass(0);
  vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 50, 30));
  await pass(MINUTE / 2);
  expect(tasks.started).toHaveLength(1);
  vi.setSystemTime(Date.UTC(2026, 0, 1, 8, 0, 30));
  await pass(MINUTE / 2);
  expect(tasks.started).toHaveLength(1);
  expect(messages.join()).toContain("while the machine slept");
});

test("times follow the time zone, across the change to summer time", async () => {
  vi.setSystemTime(Date.UTC(2026, 2, 28, 12, 0));
  configure({ report: { ...EVERY_MINUTE, cron: "30 9 * * *", timezone: "Europe/Berlin" } });
  table.begin();
  await pass(0);
  expect((await table.list())[0]?.next).toBe("2026-03-29T07:30:00.000Z");
});

test("schedules run as long as one of two callers of `begin` has not stopped them", async () => {
  configure({ report: { ...EVERY_MINUTE, overlap: true } });
  const ends = [table.begin(), table.begin()];
  await pass(MINUTE);
  ends[0]!();
  ends[0]!();
  await pass(MINUTE);
  expect(tasks.started).toHaveLength(2);
});

test.each([
  [{ cron: "x", tool: "t" }, "schedules.a.cron"],
  [{ cron: "* * * * *", tool: "t", timezone: "Mars/Phobos" }, "schedules.a.timezone"],
])("the invalid schedule %j is refused", (entry, place) => {
  expect(() => configure({ a: entry })).toThrow(place);
});

test("of two concurrent starts by hand, one starts a run and the other is refused", async () => {
  configure({ report: EVERY_MINUTE });
  const starts = await Promise.allSettled([table.run("report"), table.run("report")]);
  expect(starts.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(tasks.started).toHaveLength(1);
});

test("an unfinished run can be cancelled, and then another starts", async () => {
  configure({ report: EVERY_MINUTE });
  await table.run("report");
  expect(await table.cancel("report")).toBe(1);
  expect(await table.cancel("report")).toBe(0);
  expect(await table.cancel("other")).toBeUndefined();
  expect((await table.run("report"))?.id).toBe("2");
});

test("a schedule whose times cannot be computed is reported as a problem, and other schedules run", async () => {
  configure({ broken: EVERY_MINUTE, report: EVERY_MINUTE });
  schedules = schedules.map((one) => (one.name === "broken" ? { ...one, cron: "*/90 * * * *" } : one));
  table.begin();
  await pass(MINUTE);
  expect(tasks.started.map(({ endpoint }) => endpoint)).toEqual(["schedule:report"]);
  expect((await table.list())[0]).toMatchObject({ name: "broken", problem: { message: expect.any(String) } });
});
