import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryLimitStore } from "./limit-store.ts";

const BOUNDS = { perMinute: 60, inFlight: 2 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("S5: a minute's share may come at once, then one each second", () => {
  const store = new MemoryLimitStore();
  const take = (): boolean => {
    const { admitted } = store.admit("a", { perMinute: 60, inFlight: 0 });
    return admitted;
  };
  expect(Array.from({ length: 61 }, take).filter(Boolean)).toHaveLength(60);
  vi.advanceTimersByTime(2000);
  expect([take(), take(), take()]).toEqual([true, true, false]);
});

test("the answer says when there will be room", () => {
  const store = new MemoryLimitStore();
  store.admit("a", { perMinute: 1, inFlight: 0 });
  expect(store.admit("a", { perMinute: 1, inFlight: 0 })).toEqual({
    admitted: false,
    reason: "rate",
    retryAfterMs: 60_000,
  });
});

test("a refused call takes neither token nor place", () => {
  const store = new MemoryLimitStore();
  store.admit("a", BOUNDS);
  store.admit("a", BOUNDS);
  for (let count = 0; count < 100; count += 1) expect(store.admit("a", BOUNDS)).toMatchObject({ reason: "in-flight" });
  store.leave("a");
  expect(store.admit("a", BOUNDS)).toEqual({ admitted: true });
});

test("idle clients are forgotten, busy ones are not", () => {
  const store = new MemoryLimitStore();
  for (let client = 0; client < 1000; client += 1) {
    store.admit(`c${client}`, BOUNDS);
    if (client > 0) store.leave(`c${client}`);
  }
  vi.advanceTimersByTime(61_000);
  for (let count = 0; count < 1000; count += 1) {
    store.admit("new", { perMinute: 0, inFlight: 0 });
    store.leave("new");
  }
  expect(store.size).toBeLessThanOrEqual(2);
  store.admit("c0", BOUNDS);
  expect(store.admit("c0", BOUNDS)).toMatchObject({ reason: "in-flight" });
});

test("there are no more buckets than the bound, and room comes back", () => {
  const store = new MemoryLimitStore(10);
  for (let client = 0; client < 10; client += 1) store.admit(`c${client}`, BOUNDS);
  expect(store.admit("one more", BOUNDS)).toMatchObject({ admitted: false, reason: "full" });
  for (let client = 0; client < 10; client += 1) store.leave(`c${client}`);
  vi.advanceTimersByTime(61_000);
  expect(store.admit("one more", BOUNDS)).toEqual({ admitted: true });
});
