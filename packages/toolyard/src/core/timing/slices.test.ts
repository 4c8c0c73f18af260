import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { inSlices, whileWanted } from "./slices.ts";

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

test("works side by side have one slice in each turn, between them", () =>
  withStoppedClock(async () => {
    const done: number[] = [];
    const perTurn: number[] = [];
    let isOver = false;
    let before = 0;
    const look = (): void => {
      perTurn.push(done.length - before);
      before = done.length;
      if (!isOver) setImmediate(look);
    };
    const works = [0, 1, 2].map(() => whileWanted(steps(12, 4, done), () => true));
    before = done.length;
    setImmediate(look);
    await Promise.all(works);
    isOver = true;
    expect(done).toHaveLength(36);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  }));

// A process of its own, since in this one something else always wakes the loop; and steps enough that no chance does.
const QUIET = `
const { whileWanted } = await import("${new URL("../../../build/core/timing/slices.js", import.meta.url).href}");
function* steps() {
  for (let at = 0; at < 30; at += 1) {
    for (const endsAt = performance.now() + 10; performance.now() < endsAt; );
    yield;
  }
}
const far = setTimeout(() => console.log("woken by the timer"), 20_000);
await whileWanted(steps(), () => true);
clearTimeout(far);
console.log("done");
`;

test("work in the background goes on where nothing else wakes the loop", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", QUIET]);
  expect(stdout).toBe("done\n");
});

test("work in the background takes nothing of its asker's turn", () =>
  withStoppedClock(async () => {
    const done: number[] = [];
    const work = whileWanted(steps(3, 4, done), () => true);
    await Promise.resolve();
    expect(done).toEqual([]);
    await work;
    expect(done).toHaveLength(3);
  }));
