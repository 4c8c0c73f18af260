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

test("the signal of a deadline is aborted after a period without activity", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  vi.advanceTimersByTime(MINUTE - 10);
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(20);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("activity every 50 s keeps a deadline from ending, but no longer than an hour", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  for (let second = 50; second < 3600; second += 50) {
    vi.advanceTimersByTime(50_000);
    expect(deadline.signal.aborted).toBe(false);
    deadline.touch();
  }
  vi.advanceTimersByTime(50_000);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("C20: a child deadline ends with its parent at the latest", () => {
  const parent = new Deadline({ idleMs: 1000, totalMs: 1000 });
  const child = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  expect(child.remainingMs).toBeLessThanOrEqual(1000);
  vi.advanceTimersByTime(1100);
  expect(kindOf(child.signal)).toBe("timeout");
});

test("C20: after its parent was cleared, a child deadline ends a little later than the parent would have", () => {
  const parent = new Deadline({ idleMs: 1000, totalMs: 1000 });
  const child = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  parent.clear();
  vi.advanceTimersByTime(1000);
  const atTheBound = child.signal.aborted;
  vi.advanceTimersByTime(30);
  expect([atTheBound, child.signal.aborted]).toEqual([false, true]);
});

test("C20: the end of a child deadline does not affect its parent", () => {
  const parent = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  const child = new Deadline({ idleMs: 1000, totalMs: HOUR }, parent);
  vi.advanceTimersByTime(1100);
  expect([child.signal.aborted, parent.signal.aborted]).toEqual([true, false]);
});

test("activity of a child deadline counts as activity of its parent", () => {
  const parent = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  const child = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  vi.advanceTimersByTime(50_000);
  child.touch();
  vi.advanceTimersByTime(50_000);
  expect([child.signal.aborted, parent.signal.aborted]).toEqual([false, false]);
});

test("changed limits count from the start of the deadline", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  vi.advanceTimersByTime(1000);
  deadline.adapt({ idleMs: 5 * MINUTE, totalMs: 2 * HOUR });
  vi.advanceTimersByTime(4 * MINUTE);
  expect(deadline.signal.aborted).toBe(false);
  deadline.adapt({ idleMs: 1000, totalMs: 1000 });
  vi.advanceTimersByTime(2);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("only the total limit applies while the hub waits for a user", () => {
  const parent = new Deadline({ idleMs: MINUTE, totalMs: HOUR });
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, parent);
  const release = deadline.hold();
  vi.advanceTimersByTime(10 * MINUTE);
  expect([deadline.signal.aborted, parent.signal.aborted]).toEqual([false, false]);
  release();
  vi.advanceTimersByTime(MINUTE + 10);
  expect(kindOf(deadline.signal)).toBe("timeout");
});

test("a disconnecting caller ends the deadline with kind cancelled", () => {
  const caller = new AbortController();
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, undefined, caller.signal);
  caller.abort();
  expect(kindOf(deadline.signal)).toBe("cancelled");
});

test("a caller that has already disconnected ends the deadline immediately", () => {
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, undefined, AbortSignal.abort());
  expect(kindOf(deadline.signal)).toBe("cancelled");
  expect(vi.getTimerCount()).toBe(0);
});

test("a cleared deadline aborts nothing and leaves no timer", () => {
  const caller = new AbortController();
  const deadline = new Deadline({ idleMs: MINUTE, totalMs: HOUR }, undefined, caller.signal);
  deadline.clear();
  caller.abort();
  vi.advanceTimersByTime(2 * HOUR);
  expect(deadline.signal.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

test("creates no timer without a limit", () => {
  const deadline = new Deadline({ idleMs: Infinity, totalMs: Infinity });
  expect(vi.getTimerCount()).toBe(0);
  expect(deadline.remainingMs).toBe(Infinity);
});
