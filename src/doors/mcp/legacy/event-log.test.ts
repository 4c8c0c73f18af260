import { expect, test } from "vitest";
import { EventLog, parseEventId } from "./event-log.ts";

const LIMITS = { maxBytes: 1600, maxEvents: 10, keepMs: 1000 };

const texts = (events: readonly { readonly text: string }[]): string[] => events.map(({ text }) => text);

test("events come back per stream, after the one that was seen", () => {
  const events = new EventLog(LIMITS).session();
  const first = events.add(1, "a");
  events.add(2, "b");
  events.add(1, "c");
  const seen = parseEventId(first)!;
  expect(texts(events.after(seen.stream, seen.sequence))).toEqual(["c"]);
  expect(texts(events.after(2, 0))).toEqual(["b"]);
});

test("ids are unique in a session, over all its streams", () => {
  const events = new EventLog(LIMITS).session();
  expect(new Set([events.add(0, "a"), events.add(1, "a"), events.add(0, "a")]).size).toBe(3);
});

test("one session holds no more events and bytes than its share, the oldest go first", () => {
  const log = new EventLog(LIMITS);
  const events = log.session();
  for (let at = 0; at < 15; at += 1) events.add(0, `${at}`);
  expect(texts(events.after(0, 0))).toEqual(["5", "6", "7", "8", "9", "10", "11", "12", "13", "14"]);
  events.add(0, "x".repeat(90));
  expect(log.bytes).toBeLessThanOrEqual(100);
  events.add(0, "x".repeat(101));
  expect(log.bytes).toBeLessThanOrEqual(100);
});

test("a text larger than a session's share leaves in its place what is said instead", () => {
  const events = new EventLog(LIMITS).session();
  events.add(1, "x".repeat(101), () => "too large");
  events.add(2, "x".repeat(101));
  events.add(3, "small", () => "never made");
  expect([1, 2, 3].map((stream) => texts(events.after(stream, 0)))).toEqual([["too large"], [], ["small"]]);
  expect([1, 2, 3].map((stream) => events.has(stream))).toEqual([true, false, true]);
});

test("all sessions together hold no more than the whole, and one does not lose by another's end", () => {
  const log = new EventLog(LIMITS);
  const sessions = Array.from({ length: 40 }, () => log.session());
  for (const session of sessions) session.add(0, "x".repeat(100));
  expect(log.bytes).toBe(1600);
  expect(sessions[0]!.after(0, 0)).toEqual([]);
  for (const session of sessions.slice(0, 39)) session.close();
  expect(log.bytes).toBe(100);
  expect(sessions[39]!.after(0, 0)).toHaveLength(1);
});

test("old events are let go of, young ones are not", () => {
  const log = new EventLog(LIMITS);
  const events = log.session();
  events.add(0, "a");
  log.sweep(performance.now() + 500);
  expect(log.count).toBe(1);
  log.sweep(performance.now() + 1500);
  expect(log.count).toBe(0);
  expect(events.after(0, 0)).toEqual([]);
});

test("what is dropped is not held on to, however long it goes on", () => {
  const log = new EventLog(LIMITS);
  const [busy, quiet] = [log.session(), log.session()];
  quiet.add(0, "kept");
  for (let at = 0; at < 100_000; at += 1) busy.add(0, "y");
  expect(log.count).toBe(11);
  expect(texts(quiet.after(0, 0))).toEqual(["kept"]);
});

test("nothing is kept where nothing may be", () => {
  const log = new EventLog({ ...LIMITS, maxEvents: 0 });
  log.session().add(0, "a");
  expect(log.count).toBe(0);
});

test.each(["", "1", "1-", "-1", "1-2-3", "a-1", "1-1e3", "99999999999-1"])("%j is no event id", (id) => {
  expect(parseEventId(id)).toBeUndefined();
});
