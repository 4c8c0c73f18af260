import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { inSlices, inBackgroundSlices } from "./slices.ts";

/** Steps that take no time, or `ms` milliseconds each on a clock that is otherwise stopped. */
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

test("finishes fast work synchronously", () =>
  withStoppedClock(async () => {
    const done: number[] = [];
    expect(inSlices(steps(100, 0, done))).toBeUndefined();
    expect(done).toHaveLength(100);
  }));

test("lets other work run during slow work", () =>
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

test("rejects with an error of a later step", () =>
  withStoppedClock(async () => {
    const failing = (function* (): Generator<void, void> {
      vi.advanceTimersByTime(100);
      yield;
      throw new Error("step two");
    })();
    await expect(inSlices(failing)).rejects.toThrow("step two");
  }));

test("concurrent works share one slice per turn of the event loop", () =>
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
    const works = [0, 1, 2].map(() => inBackgroundSlices(steps(12, 4, done), () => true));
    before = done.length;
    setImmediate(look);
    await Promise.all(works);
    isOver = true;
    expect(done).toHaveLength(36);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  }));

// Runs in a separate process: in this one, other events always wake the loop. The number of steps is so high that
// chance events do not suffice.
const QUIET = `
const { inBackgroundSlices } = await import("${new URL("../../../build/core/timing/slices.js", import.meta.url).href}");
function* steps() {
  for (let at = 0; at < 30; at += 1) {
    for (const endsAt = performance.now() + 10; performance.now() < endsAt; );
    yield;
  }
}
const far = setTimeout(() => console.log("woken by the timer"), 20_000);
await inBackgroundSlices(steps(), () => true);
clearTimeout(far);
console.log("done");
`;

test("continues background work while no other event wakes the loop", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", QUIET]);
  expect(stdout).toBe("done\n");
});

test("background work takes no time in the turn that started it", () =>
  withStoppedClock(async () => {
    const done: number[] = [];
    const work = inBackgroundSlices(steps(3, 4, done), () => true);
    await Promise.resolve();
    expect(done).toEqual([]);
    await work;
    expect(done).toHaveLength(3);
  }));
