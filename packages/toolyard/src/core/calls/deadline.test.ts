import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadline } from "./deadline.ts";
import { FailError } from "../errors.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function kindOf(signal: AbortSignal): string | undefined {
  return signal.aborted && signal.reason instanceof FailError ? signal.reason.failure.kind : undefined;
}

test("silence ends it", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  vi.advanceTimersByTime(MINUTE - 10);
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(20);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("a sign of life every 50 s carries it through an hour, and no further", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  for (let second = 50; second < 3600; second += 50) {
    vi.advanceTimersByTime(50_000);
    expect(deadline.signal.aborted).toBe(false);
    deadline.touch();
  }
  vi.advanceTimersByTime(50_000);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("C20: a child never outlives its parent", () => {
  const parent = new Deadline({ idleMs: 1000, totalMs: 1000 });
  const child = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  expect(child.remainingMs).toBeLessThanOrEqual(1000);
  vi.advanceTimersByTime(1100);
  expect(kindOf(child.signal)).toBe("timeout");
});

test("C20: the parent tells of its bound, or the child a little later where the parent was cleared", () => {
  const parent = new Deadline({ idleMs: 1000, totalMs: 1000 });
  const child = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  parent.clear();
  vi.advanceTimersByTime(1000);
  const atTheBound = child.signal.aborted;
  vi.advanceTimersByTime(30);
  expect([atTheBound, child.signal.aborted]).toEqual([false, true]);
});

test("C20: a child's end leaves its parent alone", () => {
  const parent = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  const child = new Deadline({ idleMs: 1000, totalMs: HOUR }, parent);
  vi.advanceTimersByTime(1100);
  expect([child.signal.aborted, parent.signal.aborted]).toEqual([true, false]);
});

test("a child's sign of life is its parent's", () => {
  const parent = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  const child = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  vi.advanceTimersByTime(50_000);
  child.touch();
  vi.advanceTimersByTime(50_000);
  expect([child.signal.aborted, parent.signal.aborted]).toEqual([false, false]);
});

test("a budget that becomes known later counts from the beginning", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  vi.advanceTimersByTime(1000);
  deadline.adapt({ idleMs: 5 * MINUTE, totalMs: 2 * HOUR });
  vi.advanceTimersByTime(4 * MINUTE);
  expect(deadline.signal.aborted).toBe(false);
  deadline.adapt({ idleMs: 1000, totalMs: 1000 });
  vi.advanceTimersByTime(2);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("while a person is asked, only the total counts", () => {
  const parent = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  const release = deadline.hold();
  vi.advanceTimersByTime(10 * MINUTE);
  expect([deadline.signal.aborted, parent.signal.aborted]).toEqual([false, false]);
  release();
  vi.advanceTimersByTime(MINUTE + 10);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("a caller that goes ends it as cancelled", () => {
  const caller = new AbortController();
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, undefined, caller.signal);
  caller.abort();
  expect(kindOf(deadline.signal)).toBe("cancelled");
});

test("a caller that is gone already ends it at once", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, undefined, AbortSignal.abort());
  expect(kindOf(deadline.signal)).toBe("cancelled");
  expect(vi.getTimerCount()).toBe(0);
});

test("once cleared nothing fires and no timer is left", () => {
  const caller = new AbortController();
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, undefined, caller.signal);
  deadline.clear();
  caller.abort();
  vi.advanceTimersByTime(2 * HOUR);
  expect(deadline.signal.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

test("no bound is no timer", () => {
  const deadline = new Deadline({ idleMs: Infinity, totalMs: Infinity });
  expect(vi.getTimerCount()).toBe(0);
  expect(deadline.remainingMs).toBe(Infinity);
});
