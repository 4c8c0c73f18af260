import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LimitTable } from "./limit-table.ts";
import { createMember } from "./membership.ts";

const BOUNDS = { perMinute: 60, inFlight: 2 };
const FREE = { perMinute: 0, inFlight: 0 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("removes the entries of idle clients and keeps those of busy ones", () => {
  const table = new LimitTable();
  const hub = createMember("hub");
  for (let client = 0; client < 1000; client += 1) {
    table.admit(hub, `c${client}`, BOUNDS);
    if (client > 0) table.leave(hub, `c${client}`);
  }
  hub.seenAt = performance.now() + 61_000;
  vi.advanceTimersByTime(61_000);
  table.admit(hub, "new", FREE);
  expect(table.size).toBeLessThanOrEqual(2);
  table.admit(hub, "c0", BOUNDS);
  expect(table.admit(hub, "c0", BOUNDS)).toMatchObject({ reason: "in-flight" });
});

test("removes the clients of hubs that are not alive", () => {
  const table = new LimitTable();
  table.admit(createMember("gone"), "a", BOUNDS);
  vi.advanceTimersByTime(61_000);
  table.admit(createMember("hub"), "b", BOUNDS);
  expect(table.size).toBe(1);
});

test("keeps no more buckets than the limit, and makes room when clients are idle", () => {
  const table = new LimitTable(10);
  const hub = createMember("hub");
  for (let client = 0; client < 10; client += 1) table.admit(hub, `c${client}`, BOUNDS);
  expect(table.admit(hub, "one more", BOUNDS)).toMatchObject({ admitted: false, reason: "full" });
  for (let client = 0; client < 10; client += 1) table.leave(hub, `c${client}`);
  vi.advanceTimersByTime(61_000);
  expect(table.admit(hub, "one more", BOUNDS)).toEqual({ admitted: true });
});
