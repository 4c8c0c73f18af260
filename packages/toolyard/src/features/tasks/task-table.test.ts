import { appendFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ControlledRun } from "../../../../../test/support/controlled-run.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { Emitter } from "../../core/events.ts";
import type { StartedCall, TaskChange } from "../../core/ports/tasks.ts";
import { resolveTasks, type TasksConfig } from "./options.ts";
import { TaskJournal } from "./task-journal.ts";
import { TaskTable, type TaskTableDeps } from "./task-table.ts";

let folder: string;
const tables: TaskTable[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-tasks-"));
});

afterEach(async () => {
  await Promise.all(tables.splice(0).map((table) => table.close()));
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

const OTHER: Principal = { ...LOCAL_PRINCIPAL, id: "other" };
const DONE: JsonObject = { content: [{ type: "text", text: "done" }] };

interface TestTable {
  readonly table: TaskTable;
  readonly warnings: string[];
  readonly repeated: StartedCall[];
}

function openTable(config: TasksConfig = {}, deps: Partial<TaskTableDeps> = {}): TestTable {
  const warnings: string[] = [];
  const repeated: StartedCall[] = [];
  const options = resolveTasks(config);
  const table = new TaskTable({
    options: () => options,
    changed: new Emitter(),
    logger: { warning: (message) => void warnings.push(message) },
    openJournal: () => TaskJournal.open(folder, "/project"),
    run: (call) => {
      repeated.push(call);
      return new ControlledRun();
    },
    ...deps,
  });
  tables.push(table);
  return { table, warnings, repeated };
}

async function created(table: TaskTable, more: { isIdempotent?: boolean; principal?: Principal } = {}) {
  const run = new ControlledRun();
  const { principal = LOCAL_PRINCIPAL, isIdempotent = false } = more;
  const call = { principal, endpoint: "mcp-http", tool: "report", arguments: { year: 2026 }, isIdempotent };
  const task = await table.create(call, run);
  return { id: task.id, task, run };
}

/** Closes the table as a crash of its hub would: without ending the running calls. */
async function crash(table: TaskTable): Promise<void> {
  tables.splice(tables.indexOf(table), 1);
  await table.close();
}

test("a task can be read from its creation to its end, with progress and requests for input", async () => {
  const { table } = openTable();
  const { id, task, run } = await created(table);
  expect(task).toMatchObject({ status: "working", tool: "report", endpoint: "mcp-http", ttlMs: 86_400_000 });
  run.observer.progressed("2 of 3");
  expect(table.get(id, LOCAL_PRINCIPAL)).toMatchObject({ status: "working", statusMessage: "2 of 3" });
  run.open = { "elicitation-1": { method: "elicitation/create", params: {} } };
  run.observer.inputChanged();
  expect(table.get(id, LOCAL_PRINCIPAL)).toMatchObject({ status: "input_required", inputRequests: run.open });
  expect(table.respond(id, LOCAL_PRINCIPAL, { "elicitation-1": { action: "accept" } })).toBe(true);
  expect(run.answers).toEqual([{ "elicitation-1": { action: "accept" } }]);
  run.open = {};
  run.observer.inputChanged();
  run.observer.settled({ type: "result", result: DONE });
  const { inputRequests, ...end } = table.get(id, LOCAL_PRINCIPAL)!;
  expect([end.status, end.result, inputRequests]).toEqual(["completed", DONE, undefined]);
});

test("only the principal that created a task reads, answers, cancels and lists it", async () => {
  const { table } = openTable();
  const { id, run } = await created(table);
  expect(table.get(id, OTHER)).toBeUndefined();
  expect(table.respond(id, OTHER, {})).toBe(false);
  expect(table.cancel(id, OTHER)).toBe(false);
  expect(table.list(OTHER)).toEqual([]);
  expect(run.reason).toBeUndefined();
  const inProfile = { ...LOCAL_PRINCIPAL, profile: { name: "team" } };
  expect(table.get(id, inProfile)).toBeUndefined();
  expect(table.list(LOCAL_PRINCIPAL)).toHaveLength(1);
});

test("a cancelled task stays cancelled, and its call is cancelled", async () => {
  const { table } = openTable();
  const { id, run } = await created(table);
  expect(table.cancel(id, LOCAL_PRINCIPAL)).toBe(true);
  run.observer.settled({ type: "result", result: DONE });
  run.observer.progressed("late");
  expect(table.get(id, LOCAL_PRINCIPAL)).toMatchObject({ status: "cancelled" });
  expect(String((run.reason as Error).message)).toContain("cancelled");
  expect(table.cancel(id, LOCAL_PRINCIPAL)).toBe(true);
});

test("ids are long and differ", async () => {
  const { table } = openTable();
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await created(table)).id));
  expect(new Set(ids).size).toBe(20);
  expect(ids.every((id) => /^[\w-]{22}$/.test(id))).toBe(true);
});

test("a finished task is removed after its time, and a running one is kept", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { table } = openTable({ ttl: "1m" });
  const [finished, running] = [await created(table), await created(table)];
  finished.run.observer.settled({ type: "result", result: DONE });
  vi.setSystemTime(Date.now() + 59_000);
  expect(table.get(finished.id, LOCAL_PRINCIPAL)).toMatchObject({ status: "completed" });
  vi.setSystemTime(Date.now() + 2000);
  expect(table.get(finished.id, LOCAL_PRINCIPAL)).toBeUndefined();
  expect(table.list(LOCAL_PRINCIPAL).map(({ id }) => id)).toEqual([running.id]);
});

test("removes the oldest finished tasks if there are too many or their results are too large", async () => {
  const { table } = openTable({ max_tasks: 3, max_stored: "1KB" });
  const first = await created(table);
  const rest = [await created(table), await created(table)];
  for (const { run } of rest) run.observer.settled({ type: "result", result: DONE });
  const fourth = await created(table);
  expect(table.get(rest[0]!.id, LOCAL_PRINCIPAL)).toBeUndefined();
  expect([first, rest[1]!, fourth].every(({ id }) => table.get(id, LOCAL_PRINCIPAL) !== undefined)).toBe(true);
  fourth.run.observer.settled({ type: "result", result: { content: [{ type: "text", text: "x".repeat(2000) }] } });
  expect(table.list(LOCAL_PRINCIPAL).map(({ id }) => id)).toEqual([first.id]);
});

test("a principal may have max_running unfinished tasks, independent of other principals", async () => {
  const { table } = openTable({ max_running: 2 });
  const { run } = await created(table);
  expect(table.hasRoomFor(LOCAL_PRINCIPAL)).toBe(true);
  await created(table);
  expect([table.hasRoomFor(LOCAL_PRINCIPAL), table.hasRoomFor(OTHER)]).toEqual([false, true]);
  await expect(table.start({ principal: LOCAL_PRINCIPAL, endpoint: "rest", tool: "t", arguments: {} })).rejects.toThrow(
    /too many unfinished tasks/,
  );
  run.observer.settled({ type: "cancelled" });
  expect(table.hasRoomFor(LOCAL_PRINCIPAL)).toBe(true);
});

test("after a crash, finished tasks have their result, and the others have failed with the reason", async () => {
  const { table } = openTable();
  const [finished, running] = [await created(table), await created(table)];
  finished.run.observer.settled({ type: "result", result: DONE });
  await crash(table);
  running.run.observer.settled({ type: "result", result: DONE });
  const next = openTable().table;
  await next.ready();
  expect(next.get(finished.id, LOCAL_PRINCIPAL)).toMatchObject({ status: "completed", result: DONE });
  expect(next.get(running.id, LOCAL_PRINCIPAL)).toMatchObject({
    status: "failed",
    statusMessage: expect.stringContaining("not idempotent") as string,
  });
});

test("after a crash, an idempotent call is repeated when its owner reads it, with its current rights", async () => {
  const { table } = openTable();
  const { id } = await created(table, { isIdempotent: true });
  await crash(table);
  const { table: next, repeated } = openTable();
  await next.ready();
  expect(next.get(id, OTHER)).toBeUndefined();
  expect(repeated).toEqual([]);
  const now: Principal = { ...LOCAL_PRINCIPAL, rights: { allow: ["report"] } };
  expect(next.get(id, now)).toMatchObject({ status: "working" });
  next.get(id, now);
  expect(repeated).toEqual([{ principal: now, endpoint: "mcp-http", tool: "report", arguments: { year: 2026 } }]);
});

test("ignores an incomplete last line and lines of another format", async () => {
  const { table } = openTable();
  const { id, run } = await created(table);
  run.observer.settled({ type: "result", result: DONE });
  await crash(table);
  const [file] = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  await appendFile(join(folder, file!), `[1]\n{"id":5}\n{"id":"x"}\n{"id":"${id}","facts":{"ow`);
  const { table: next, warnings } = openTable();
  await next.ready();
  expect(next.list(LOCAL_PRINCIPAL).map((task) => [task.id, task.status])).toEqual([[id, "completed"]]);
  expect(warnings).toEqual([]);
  expect((await readFile(join(folder, file!), "utf8")).trim().split("\n")).toHaveLength(2);
});

test("two hubs of one configuration have separate journals, and a hub takes over that of an exited one", async () => {
  const [first, second] = [openTable().table, openTable().table];
  const { id } = await created(first);
  await created(second);
  expect(second.get(id, LOCAL_PRINCIPAL)).toBeUndefined();
  await crash(first);
  const third = openTable().table;
  await third.ready();
  expect(third.get(id, LOCAL_PRINCIPAL)).toMatchObject({ status: "failed" });
});

test("a task that cannot be stored is not created, and its call is cancelled", async () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  const journal = { append: () => Promise.reject(full), close: async () => {} } as unknown as TaskJournal;
  const { table } = openTable({}, { openJournal: async () => ({ journal, records: [] }) });
  const run = new ControlledRun();
  const call = { principal: LOCAL_PRINCIPAL, endpoint: "rest", tool: "t", arguments: {}, isIdempotent: false };
  await expect(table.create(call, run)).rejects.toThrow(/could not be stored: ENOSPC/);
  expect([run.reason === undefined, table.list(LOCAL_PRINCIPAL)]).toEqual([false, []]);
});

test("without a journal that can be opened, keeps tasks in memory and logs that", async () => {
  const { table, warnings } = openTable({}, { openJournal: () => Promise.reject(new Error("EACCES")) });
  const { id } = await created(table);
  expect(table.get(id, LOCAL_PRINCIPAL)).toMatchObject({ status: "working" });
  expect(warnings).toEqual(["The journal of tasks cannot be used: tasks end with this hub."]);
});

test("listeners receive each change of a task with the task's owner", async () => {
  const { table } = openTable();
  const changes: TaskChange[] = [];
  table.changed.on((change) => void changes.push(change));
  const { run } = await created(table);
  run.observer.progressed("half");
  run.observer.settled({ type: "error", error: { code: -32603, message: "No." } });
  expect(changes.map(({ owner, task: { status, statusMessage } }) => [owner, status, statusMessage])).toEqual([
    ["local", "working", "half"],
    ["local", "failed", "No."],
  ]);
});

test("`ended` resolves with the final state, or with undefined for an unknown task and an aborted wait", async () => {
  const { table } = openTable();
  const { id, run } = await created(table);
  const controller = new AbortController();
  const [end, given] = [
    table.ended(id, LOCAL_PRINCIPAL, new AbortController().signal),
    table.ended(id, LOCAL_PRINCIPAL, controller.signal),
  ];
  controller.abort();
  expect(await given).toBeUndefined();
  run.observer.settled({ type: "result", result: DONE });
  expect(await end).toMatchObject({ status: "completed" });
  expect(await table.ended("none", LOCAL_PRINCIPAL, controller.signal)).toBeUndefined();
  expect(table.changed.size).toBe(0);
});

test("concurrent starts cannot exceed `max_running`", async () => {
  const { table } = openTable({ max_running: 3 });
  const call = { principal: LOCAL_PRINCIPAL, endpoint: "rest", tool: "t", arguments: {} };
  const starts = await Promise.allSettled(Array.from({ length: 10 }, () => table.start(call)));
  expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(table.list(LOCAL_PRINCIPAL)).toHaveLength(3);
});

test("interrupted tasks do not count towards `max_running`, and are removed after their time", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const config = { max_running: 2, ttl: "1m" };
  const { table } = openTable(config);
  const ids = [await created(table, { isIdempotent: true }), await created(table, { isIdempotent: true })];
  await crash(table);
  const next = openTable(config).table;
  await next.ready();
  expect(next.hasRoomFor(LOCAL_PRINCIPAL)).toBe(true);
  vi.setSystemTime(Date.now() + 61_000);
  expect(ids.map(({ id }) => next.get(id, LOCAL_PRINCIPAL))).toEqual([undefined, undefined]);
  expect(next.list(LOCAL_PRINCIPAL)).toEqual([]);
});

test("arguments are stored only while an idempotent call may be repeated", async () => {
  const { table } = openTable();
  await created(table);
  const again = await created(table, { isIdempotent: true });
  const [file] = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
  const records = async () => (await readFile(join(folder, file!), "utf8")).trim().split("\n");
  expect((await records()).map((line) => line.includes("2026"))).toMatchObject({ length: 2 });
  expect((await records()).map((line) => line.includes('"year"'))).toEqual([false, true]);
  again.run.observer.settled({ type: "result", result: DONE });
  await expect.poll(records).toHaveLength(3);
  expect((await records())[2]).not.toContain('"year"');
});

test("a journal that has become much larger than its tasks is rewritten, and keeps them", async () => {
  const { table, warnings } = openTable({ max_stored: "1MB" });
  const kept = await created(table);
  const large = { content: [{ type: "text", text: "x".repeat(900_000) }] };
  for (let count = 0; count < 24; count += 1) {
    const { run } = await created(table);
    run.observer.settled({ type: "result", result: large });
  }
  await created(table);
  const name = (await readdir(folder)).find((one) => one.endsWith(".jsonl"))!;
  await expect.poll(async () => (await readFile(join(folder, name))).byteLength).toBeLessThan(16 * 1024 * 1024);
  await crash(table);
  const next = openTable().table;
  await next.ready();
  expect(next.get(kept.id, LOCAL_PRINCIPAL)).toMatchObject({ status: "failed" });
  expect(warnings).toEqual([]);
});
