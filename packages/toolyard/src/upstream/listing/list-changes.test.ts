import { expect, test } from "vitest";
import { ListChanges } from "./list-changes.ts";

/** Simulates a server that announces list changes to `changes`. Returns the times at which its lists were read. */
function readings(
  changes: ListChanges,
  {
    untilMs,
    readMs = 1,
    announcements = [],
    onRead = () => [],
  }: {
    readonly untilMs: number;
    readonly readMs?: number;
    /** Times at which the server announces a change on its own. */
    readonly announcements?: readonly number[];
    /** Returns the times, from the start of a reading, at which the server announces a change because of it. */
    readonly onRead?: (count: number) => readonly number[];
  },
): number[] {
  const startedAt: number[] = [];
  const waiting = Array.from(announcements).toSorted((a, b) => a - b);
  let now = 0;
  for (;;) {
    const due = changes.dueInMs(now);
    const next = Math.min(waiting[0] ?? Infinity, due === undefined ? Infinity : now + due);
    if (next === Infinity || next > untilMs) return startedAt;
    now = next;
    if (waiting[0] === next) {
      waiting.shift();
      changes.announce("tools", now);
      continue;
    }
    const reading = changes.begin();
    startedAt.push(now);
    const own = onRead(startedAt.length).map((after) => startedAt.at(-1)! + after);
    for (const at of own.filter((one) => one <= now + readMs)) changes.announce("tools", at);
    now += readMs;
    changes.end(reading, true, now);
    waiting.push(...own.filter((one) => one > now));
    waiting.sort((a, b) => a - b);
  }
}

test("reads once for changes that are announced together", () => {
  expect(readings(new ListChanges(), { untilMs: 10_000, announcements: [0, 1, 2, 30, 49] })).toEqual([50]);
});

test("reads changes that are far apart without a pause", () => {
  const changes = new ListChanges();
  expect(readings(changes, { untilMs: 60_000, announcements: [0, 5000, 10_000] })).toEqual([50, 5050, 10_050]);
  expect(changes.isRestless).toBe(false);
});

test.each([
  ["during each reading", [0]],
  ["several times during each reading", [0, 0.2, 0.4]],
  ["right after each reading", [2]],
  ["half a second after each reading", [500]],
  ["twice after each reading", [10, 300]],
])("reads at most 12 times in 10 s and 25 times in 10 min if the server announces a change %s", (_how, own) => {
  const changes = new ListChanges();
  const all = readings(changes, { untilMs: 600_000, announcements: [0], onRead: () => own });
  expect(all.filter((at) => at <= 10_000).length).toBeLessThanOrEqual(12);
  expect(all.length).toBeLessThanOrEqual(25);
  expect(changes.isRestless).toBe(true);
  expect(Math.max(...all.map((at, index) => at - (all[index - 1] ?? at)))).toBeLessThanOrEqual(61_000);
});

test("reads the latest announced change, for any number of changes before it", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    let state = seed;
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const announcements = Array.from({ length: 1 + Math.floor(random() * 40) }, () => random() * 20_000 * random());
    const changes = new ListChanges();
    const all = readings(changes, { untilMs: Infinity, announcements, readMs: 1 + random() * 50 });
    expect(all.at(-1), `seed ${seed}`).toBeGreaterThanOrEqual(Math.max(...announcements));
    expect(changes.since).toBeUndefined();
  }
});

test("stops pausing once the server has announced nothing for a while", () => {
  const changes = new ListChanges();
  readings(changes, { untilMs: 20_000, announcements: [0], onRead: (count) => (count < 8 ? [0] : []) });
  expect(changes.isRestless).toBe(true);
  expect(changes.calmInMs(20_000)).toBeGreaterThan(0);
  expect(changes.calmInMs(60_000)).toBeUndefined();
  expect(changes.isRestless).toBe(false);
  changes.announce("tools", 60_000);
  expect(changes.dueInMs(60_000)).toBe(50);
});

test("reads announced changes in the next reading if a reading fails", () => {
  const changes = new ListChanges();
  changes.announce("tools", 0);
  const reading = changes.begin();
  changes.announce("prompts", 1);
  changes.end(reading, false, 2);
  expect(changes.since).toBe(0);
  expect(changes.begin().announced).toEqual(new Set(["tools", "prompts"]));
});

test("reads the lists after a lost stream, but does not count it as an announcement", () => {
  const changes = new ListChanges();
  changes.announce("all", 0);
  expect(changes.dueInMs(0)).toBe(50);
  expect(changes.begin().announced.size).toBe(0);
});
