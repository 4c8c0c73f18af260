import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JobClock } from "./javascript/job-clock.ts";
import { RunClock } from "./run-clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the processor time on a busy machine where the code runs for the given share of the elapsed time. */
function crowded(share: number): () => number {
  const begun = performance.now();
  return () => (performance.now() - begun) * share;
}

function clock(computedMs: () => number): { readonly clock: RunClock; readonly ends: string[] } {
  const ends: string[] = [];
  const options = { named: { wallMs: 60_000, cpuMs: 1000 }, graceMs: 0, computedMs };
  return { clock: new RunClock(options, (message) => ends.push(message)), ends };
}

test("does not end code for elapsed time in which it got little processor time", () => {
  const { clock: running, ends } = clock(crowded(0.1));
  vi.advanceTimersByTime(9000);
  expect(ends).toEqual([]);
  running.stop();
});

test("ends code that has computed for its time limit, and names the option", () => {
  const { ends } = clock(crowded(0.1));
  vi.advanceTimersByTime(11_000);
  expect(ends).toEqual([expect.stringContaining("computed for longer than 1 s (`sandbox.cpu_time`)")]);
});

test("uses elapsed time if processor time is unavailable", () => {
  const { ends } = clock(() => NaN);
  vi.advanceTimersByTime(1001);
  expect(ends).toEqual([expect.stringContaining("`sandbox.cpu_time`")]);
});

test("ends code that never gets the processor at the time limit of the whole run, and names that limit", () => {
  const { ends } = clock(() => 0);
  vi.advanceTimersByTime(60_001);
  expect(ends).toEqual([expect.stringContaining("`sandbox.timeout`")]);
});

test("does not count waiting, even if the code waits often", () => {
  const { clock: running, ends } = clock(() => NaN);
  for (let call = 0; call < 900; call += 1) {
    running.waits(true);
    vi.advanceTimersByTime(40);
    running.waits(false);
    vi.advanceTimersByTime(1);
  }
  expect(ends).toEqual([]);
  for (let call = 0; call < 101; call += 1) {
    running.waits(true);
    vi.advanceTimersByTime(40);
    running.waits(false);
    vi.advanceTimersByTime(1);
  }
  expect(ends).toEqual([expect.stringContaining("`sandbox.cpu_time`")]);
});

test("counts processor time, and never more than the elapsed time", () => {
  const limits = { wallMs: 60_000, cpuMs: 1000 };
  const [scarce, shared] = [new JobClock(limits, crowded(0.1)), new JobClock(limits, crowded(3))];
  for (const own of [scarce, shared]) own.enter();
  vi.advanceTimersByTime(999);
  expect([scarce.over(), shared.over()]).toEqual([undefined, undefined]);
  vi.advanceTimersByTime(1);
  expect([scarce.over(), shared.over()]).toEqual([undefined, "cpu"]);
  scarce.leave();
  vi.advanceTimersByTime(20_000);
  scarce.enter();
  expect(scarce.over()).toBeUndefined();
  vi.advanceTimersByTime(9001);
  expect(scarce.over()).toBe("cpu");
});
