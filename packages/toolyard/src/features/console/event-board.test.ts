import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Emitter } from "../../core/events.ts";
import type { TaskChange } from "../../core/ports/tasks.ts";
import type { EventStream } from "../../http/answer/event-stream.ts";
import { Redactor } from "../../telemetry/redactor.ts";
import type { AdminCaller, StreamPermit } from "./access/admin-caller.ts";
import type { CallRecord, LogRecord } from "./api-types.ts";
import { EventBoard } from "./event-board.ts";
import type { ConsoleParts } from "./parts.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class StreamStub {
  readonly sent: string[] = [];
  isEnded = false;
  #run = (): void => {};
  send(data: string): void {
    this.sent.push(data);
  }
  onClosed(run: () => void): void {
    this.#run = run;
  }
  end(): void {
    this.isEnded = true;
    this.#run();
  }
}

const control: { problem: string | undefined } = { problem: undefined };

const ALWAYS: StreamPermit = { isOver: () => false, renew: async () => true };

function boardWith(texts: readonly string[], changed = new Emitter<TaskChange>()): EventBoard {
  const redactor = new Redactor();
  redactor.add("hunter22secret");
  const calls = texts.map((target, at) => ({ number: at + 1, target, who: "x" }) as CallRecord);
  const lines = texts.map((text, at) => ({ number: at + 1, text, time: "", level: "info" }) as LogRecord);
  const parts = {
    recentCalls: { after: (number: number) => calls.slice(number), lastNumber: 0, added: { on: () => () => {} } },
    logFeed: { lines: () => lines, added: { on: () => () => {} } },
    startedAt: new Date(0),
    tasks: { changed },
    hub: {
      sources: () => [],
      events: { listsChanged: { on: () => () => {} }, resourceUpdated: { on: () => () => {} } },
    },
    redactFacts: redactor.facts.bind(redactor),
    hubControl: () => control,
  };
  return new EventBoard(parts as unknown as ConsoleParts, 100);
}

function follow(board: EventBoard, permit: StreamPermit = ALWAYS, seesAll = true): StreamStub {
  const stream = new StreamStub();
  const caller = { principal: { id: "ops" }, seesAll } as unknown as AdminCaller;
  const wish = { topics: new Set(["calls", "logs", "state"]), lastId: "0.0", permit };
  board.add(stream as unknown as EventStream, caller, wish);
  return stream;
}

test("sends valid JSON without secrets for any texts of callers and sources", () => {
  const texts = [
    'token=a"x',
    'token="hunter22secret"',
    'password: a1b2c3"\\',
    'docker run -e "API_KEY=abc123" image',
    'bearer abcdef\n"',
    '{"password": "a\\"b1c2d3"}',
  ];
  const board = boardWith(texts);
  const { sent } = follow(board);
  board.close();
  expect(sent).toHaveLength(1 + 2 * texts.length);
  for (const data of sent) expect(() => JSON.parse(data), data).not.toThrow();
  expect(sent.join("")).not.toContain("hunter22secret");
});

test("ends a stream when its session or token ends, and no other stream", async () => {
  const board = boardWith([]);
  let isOver = false;
  const [ended, other] = [follow(board, { ...ALWAYS, isOver: () => isOver }), follow(board)];
  await vi.advanceTimersByTimeAsync(2000);
  expect([ended.isEnded, other.isEnded]).toEqual([false, false]);
  isOver = true;
  await vi.advanceTimersByTimeAsync(1000);
  expect([ended.isEnded, other.isEnded, board.size]).toEqual([true, false, 1]);
  board.close();
});

test.each([
  ["is refused", async () => false],
  ["cannot be authenticated", () => Promise.reject(new Error("fault"))],
])("ends a stream within 30 s when its caller %s", async (_name, renew) => {
  const board = boardWith([]);
  const [ended, other] = [follow(board, { ...ALWAYS, renew }), follow(board)];
  await vi.advanceTimersByTimeAsync(30_000);
  expect([ended.isEnded, other.isEnded]).toEqual([true, false]);
  board.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("reports many changes of tasks once immediately and then once a second", () => {
  const changed = new Emitter<TaskChange>();
  const stream = follow(boardWith([], changed));
  const news = (): number => stream.sent.filter((text) => text === '{"what":"tasks"}').length;
  for (let at = 0; at < 1000; at += 1) changed.emit({ owner: "ops" } as TaskChange);
  expect(news()).toBe(1);
  vi.advanceTimersByTime(1000);
  expect(news()).toBe(2);
  vi.advanceTimersByTime(5000);
  expect(news()).toBe(2);
  changed.emit({ owner: "ops" } as TaskChange);
  expect(news()).toBe(3);
});

test.each([
  ["its own tasks", "ops", true, 1],
  ["runs of schedules", "local", true, 1],
  ["runs of schedules with narrowed rights", "local", false, 0],
  ["tasks of another caller", "other", true, 0],
  ["its own tasks in a profile", "ops\nsmall", true, 0],
])("reports %s to a caller", (_what, owner, seesAll, count) => {
  const changed = new Emitter<TaskChange>();
  const stream = follow(boardWith([], changed), ALWAYS, seesAll);
  changed.emit({ owner } as TaskChange);
  expect(stream.sent.filter((text) => text === '{"what":"tasks"}')).toHaveLength(count);
});

test("reports within a second that a configuration was refused, and that a later one was accepted", () => {
  const stream = follow(boardWith([]));
  for (const problem of ["Unknown option `prot`", undefined]) {
    stream.sent.length = 0;
    control.problem = problem;
    vi.advanceTimersByTime(2000);
    expect(stream.sent.filter((text) => text.includes("sources"))).toEqual(['{"what":"sources"}']);
  }
});
