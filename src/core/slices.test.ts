import { expect, test, vi } from "vitest";
import { inSlices } from "./slices.ts";

/** Steps that take no time, or so many milliseconds each by a clock that stands still otherwise. */
function* steps(count: number, ms: number, done: number[]): Generator<void, void> {
  for (let at = 0; at < count; at += 1) {
    vi.advanceTimersByTime(ms);
    done.push(at);
    yield;
  }
}

async function withStoppedClock(work: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    await work();
  } finally {
    vi.useRealTimers();
  }
}

test("what takes no time is done at once", () =>
  withStoppedClock(async () => {
    const done: number[] = [];
    expect(inSlices(steps(100, 0, done))).toBeUndefined();
    expect(done).toHaveLength(100);
  }));

test("what takes long lets others in between", () =>
  withStoppedClock(async () => {
    const done: number[] = [];
    const seen: number[] = [];
    const look = (): void => {
      seen.push(done.length);
      if (done.length < 40) setImmediate(look);
    };
    const end = inSlices(steps(40, 2, done));
    expect(done.length).toBeLessThan(10);
    look();
    await end;
    expect(done).toHaveLength(40);
    expect(seen.length).toBeGreaterThan(3);
  }));

test("what a later step throws is told", () =>
  withStoppedClock(async () => {
    const failing = (function* (): Generator<void, void> {
      vi.advanceTimersByTime(100);
      yield;
      throw new Error("step two");
    })();
    await expect(inSlices(failing)).rejects.toThrow("step two");
  }));
