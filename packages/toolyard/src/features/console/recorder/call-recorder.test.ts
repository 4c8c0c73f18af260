import fc from "fast-check";
import { expect, test } from "vitest";
import { recordOf, type RecordedCall } from "./call-record.ts";
import { CallRecorder, KEPT_MINUTES } from "./call-recorder.ts";

function call(more: Partial<RecordedCall> = {}): RecordedCall {
  return {
    call: "c",
    time: "2026-01-01T00:00:00.000Z",
    principal: "local",
    who: "local",
    endpoint: "rest",
    method: "tools/call",
    target: "t",
    kind: "ok",
    durationMs: 1,
    attempts: 1,
    resultBytes: 0,
    ...more,
  };
}

test("keeps the last calls, newest first, and counts all calls", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 60 }), (size, count) => {
      const recorder = new CallRecorder(size);
      for (let at = 0; at < count; at += 1) recorder.add(call(), [0]);
      const kept = recorder.find(() => true, 1000).calls.map(({ number }) => number);
      expect(kept).toEqual(Array.from({ length: Math.min(size, count) }, (_, back) => count - back));
      expect(recorder.counts.calls).toBe(count);
    }),
  );
});

test("counts failures, but not calls that their caller cancelled", () => {
  const recorder = new CallRecorder(10);
  for (const kind of ["ok", "timeout", "cancelled", "tool_error"] as const)
    recorder.add(call({ kind, source: "s" }), [0]);
  expect(recorder.counts).toEqual({ calls: 4, errors: 2 });
  expect(recorder.ofTool("t")).toMatchObject({ calls: 4, errors: 2 });
  expect(recorder.ofTool("other")).toEqual({ calls: 0, errors: 0 });
});

test("does not count a call that another call makes", () => {
  const recorder = new CallRecorder(10);
  recorder.add(call({ parent: "p", source: "s" }), [0]);
  expect(recorder.counts.calls).toBe(0);
  expect(recorder.callers()).toEqual([]);
  expect(recorder.find(() => true, 1000).calls).toHaveLength(1);
});

test("returns percentiles that are values of the kept calls", () => {
  const recorder = new CallRecorder(100);
  for (let at = 0; at < 100; at += 1) recorder.add(call(), [at]);
  const sorted = recorder
    .find(() => true, 1000)
    .calls.map(({ durationMs }) => durationMs)
    .toSorted((one, other) => one - other);
  expect(recorder.total).toMatchObject({ p50: sorted[49], p95: sorted[94], p99: sorted[98] });
});

test("counts calls by minute and forgets the minutes of the hour before", () => {
  const now = { ms: 0 };
  const recorder = new CallRecorder(10, () => now.ms);
  recorder.add(call(), [0]);
  now.ms = 60_000;
  recorder.add(call({ kind: "timeout" }), [0]);
  expect(recorder.minutes().slice(-2)).toEqual([
    { calls: 1, errors: 0 },
    { calls: 1, errors: 1 },
  ]);
  now.ms = KEPT_MINUTES * 60_000 + 60_000;
  expect(recorder.minutes().reduce((sum, { calls }) => sum + calls, 0)).toBe(0);
});

test("keeps a limited number of callers and of their programs", () => {
  const recorder = new CallRecorder(1);
  for (let at = 0; at < 2500; at += 1) recorder.add(call({ principal: `u${at}` }), [0]);
  for (let at = 0; at < 50; at += 1) recorder.add(call({ principal: "one", client: `p${at}` }), [0]);
  expect(recorder.callers()).toHaveLength(2000);
  expect(recorder.callers().at(-1)!.programs).toHaveLength(8);
});

test("does not record a call without times", () => {
  const recorder = new CallRecorder(10);
  recorder.add(call(), undefined);
  expect(recorder.find(() => true, 1000).calls).toEqual([]);
  expect(recorder.counts.calls).toBe(0);
});

test("divides the duration of a call into the stages that it reached", () => {
  const stages = (times: number[], endedAt: number): unknown =>
    recordOf({ number: 1, seen: call(), times, endedAt }).stages;
  expect(stages([10], 12)).toEqual([2]);
  expect(stages([10, 11, 13], 13.5)).toEqual([1, 2, 0.5]);
  expect(stages([0, 1, 2, 3, 4, 5, 9], 10)).toEqual([1, 1, 1, 1, 1, 4, 1]);
});

test("returns the newest matching calls and the total number of matching calls", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.constantFrom("a", "b"), { maxLength: 60 }),
      fc.integer({ min: 0, max: 30 }),
      (size, targets, limit) => {
        const recorder = new CallRecorder(size);
        for (const target of targets) recorder.add(call({ target }), [0]);
        const { calls, total } = recorder.find(({ target }) => target === "a", limit);
        const kept = targets.map((target, at) => ({ target, number: at + 1 })).slice(-size);
        const wanted = kept.filter(({ target }) => target === "a").toReversed();
        expect(total).toBe(wanted.length);
        expect(calls.map(({ number }) => number)).toEqual(wanted.slice(0, limit).map(({ number }) => number));
      },
    ),
  );
});

test("returns the kept calls after a number, oldest first", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(40), fc.nat(45), (size, count, after) => {
      const recorder = new CallRecorder(size);
      for (let at = 0; at < count; at += 1) recorder.add(call(), [0]);
      const all = Array.from({ length: count }, (_, at) => at + 1).slice(-size);
      expect(recorder.after(after).map(({ number }) => number)).toEqual(all.filter((number) => number > after));
    }),
  );
});
