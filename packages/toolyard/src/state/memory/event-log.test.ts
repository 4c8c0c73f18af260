import { expect, test } from "vitest";
import { MemoryEventLog } from "./event-log.ts";

const LIMITS = { maxBytes: 1600, maxEvents: 10, keepMs: 1000 };

test("one session stores no more characters than its share", () => {
  const log = new MemoryEventLog(LIMITS);
  for (let at = 1; at <= 15; at += 1) log.append("a", { stream: 0, sequence: at, text: `${at}` });
  log.append("a", { stream: 0, sequence: 16, text: "x".repeat(90) });
  expect(log.size).toBeLessThanOrEqual(100);
  log.append("a", { stream: 0, sequence: 17, text: "x".repeat(101) });
  expect(log.size).toBeLessThanOrEqual(100);
});

test("all sessions together store no more than the total, and the end of a session frees its part", () => {
  const log = new MemoryEventLog(LIMITS);
  for (let at = 0; at < 40; at += 1) log.append(`s${at}`, { stream: 0, sequence: 1, text: "x".repeat(100) });
  expect(log.size).toBe(1600);
  for (let at = 0; at < 39; at += 1) log.forget(`s${at}`);
  expect([log.size, log.count]).toEqual([100, 1]);
});

test("frees the memory of dropped entries, for any number of entries", () => {
  const log = new MemoryEventLog(LIMITS);
  log.append("quiet", { stream: 0, sequence: 1, text: "kept" });
  for (let at = 1; at <= 10_000; at += 1) log.append("busy", { stream: 0, sequence: at, text: "y" });
  expect(log.count).toBe(11);
  expect(log.held).toBeLessThan(300);
  expect(log.after("quiet", 0, 0)).toMatchObject([{ text: "kept" }]);
});

test("stores nothing if no events are permitted", () => {
  const log = new MemoryEventLog({ ...LIMITS, maxEvents: 0 });
  log.append("a", { stream: 0, sequence: 1, text: "a" });
  expect(log.count).toBe(0);
});
