import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WorkClock } from "./work-clock.ts";

let usedMs: number;
let overs: number;
let clock: WorkClock;

beforeEach(() => {
  vi.useFakeTimers();
  [usedMs, overs] = [0, 0];
  clock = new WorkClock(() => usedMs);
});
afterEach(() => {
  clock.stop();
  vi.useRealTimers();
});

/** Advances the clock; the process computes for the given share of the time. */
function pass(ms: number, share: number): void {
  for (let at = 0; at < ms; at += 10) {
    usedMs += 10 * share;
    vi.advanceTimersByTime(10);
  }
}

test("work that computes all the time ends after its time limit", () => {
  clock.start(1000, () => (overs += 1));
  pass(980, 1);
  expect(overs).toBe(0);
  pass(40, 1);
  expect(overs).toBe(1);
});

test("work that gets a fifth of the processor has five times as long", () => {
  clock.start(1000, () => (overs += 1));
  pass(4900, 0.2);
  expect(overs).toBe(0);
  pass(200, 0.2);
  expect(overs).toBe(1);
});

test("work that gets almost no processor time ends after six times its limit", () => {
  clock.start(1000, () => (overs += 1));
  pass(5900, 0.001);
  expect(overs).toBe(0);
  pass(200, 0.001);
  expect(overs).toBe(1);
});

test("does not end work that already finished, or that started later", () => {
  clock.start(1000, () => (overs += 1));
  pass(900, 1);
  clock.start(1000, () => (overs += 10));
  pass(900, 1);
  clock.stop();
  pass(5000, 1);
  expect(overs).toBe(0);
});
