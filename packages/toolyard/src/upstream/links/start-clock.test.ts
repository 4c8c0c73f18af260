import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LostTime } from "../../process/lost-time.ts";
import { MAX_PATIENCE, StartClock } from "./start-clock.ts";

/** Simulated processor time of the process, and its waiting time for the processor. */
let share: { ranMs: number; waitedMs: number };
let clock: StartClock;

beforeEach(() => {
  vi.useFakeTimers();
  share = { ranMs: 0, waitedMs: 0 };
});
afterEach(() => {
  clock.stop();
  vi.useRealTimers();
});

function start(totalMs = 1000, pid: () => number | undefined = () => 1): StartClock {
  const lostTime = new LostTime(() => [{ id: "1", isAtDisk: false, ...share }]);
  return (clock = new StartClock({ timeoutMs: 1000, totalMs, pid }, lostTime));
}

/**
 * Advances the clock. The process needs the processor for the share `wants` of the time, and has it for the share
 * `gets`.
 */
async function pass(ms: number, { wants = 1, gets = wants }: { wants?: number; gets?: number } = {}): Promise<void> {
  for (let at = 0; at < ms; at += 10) {
    share = { ranMs: share.ranMs + 10 * gets, waitedMs: share.waitedMs + 10 * (wants - gets) };
    await vi.advanceTimersByTimeAsync(10);
  }
}

test("aborts a sleeping start when its time limit is reached", async () => {
  start();
  await pass(980, { wants: 0 });
  expect(clock.signal.aborted).toBe(false);
  await pass(40, { wants: 0 });
  expect(clock.signal.aborted).toBe(true);
});

test("aborts a start that uses the processor continuously when its time limit is reached", async () => {
  start();
  await pass(980);
  expect(clock.signal.aborted).toBe(false);
  await pass(40);
  expect(clock.signal.aborted).toBe(true);
});

test("gives four times as long to a start that gets a quarter of the processor time that it needs", async () => {
  start();
  await pass(3800, { wants: 1, gets: 0.25 });
  expect(clock.signal.aborted).toBe(false);
  await pass(400, { wants: 1, gets: 0.25 });
  expect(clock.signal.aborted).toBe(true);
  expect(clock.failure.message).toContain("within 1 s, not counting 3 s in which the machine was busy.");
});

test("gives no extra time to a mostly sleeping start that rarely needs the processor", async () => {
  start();
  await pass(1080, { wants: 0.04, gets: 0.02 });
  expect(clock.signal.aborted).toBe(true);
  expect(clock.failure.message).toContain("within 1 s. ");
});

test("aborts a start that gets no processor time after a multiple of its time limit", async () => {
  start();
  await pass(MAX_PATIENCE * 1000 - 20, { gets: 0 });
  expect(clock.signal.aborted).toBe(false);
  await pass(40, { gets: 0 });
  expect(clock.signal.aborted).toBe(true);
});

test("restarts the time limit after activity, up to the total limit", async () => {
  start(2500);
  for (let signs = 0; signs < 4; signs += 1) {
    await pass(600, { wants: 0 });
    expect(clock.signal.aborted).toBe(false);
    clock.touch();
  }
  await pass(120, { wants: 0 });
  expect(clock.signal.aborted).toBe(true);
});

test("accepts a process that starts after the clock, or is replaced", async () => {
  let pid: number | undefined;
  start(1000, () => pid);
  await pass(500, { gets: 0 });
  pid = 1;
  await pass(1400, { gets: 0 });
  expect(clock.signal.aborted).toBe(false);
});

test("aborts nothing after the clock was stopped", async () => {
  start();
  clock.stop();
  await pass(9000, { wants: 0 });
  expect(clock.signal.aborted).toBe(false);
});
