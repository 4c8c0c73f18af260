import fc from "fast-check";
import { expect, test } from "vitest";
import { CallRecorder, KEPT_MINUTES, type FinishedCall } from "./call-recorder.ts";

function call(more: Partial<FinishedCall> = {}): FinishedCall {
  return {
    id: "c",
    time: "2026-01-01T00:00:00.000Z",
    who: "local",
    endpoint: "rest",
    method: "tools/call",
    target: "t",
    outcome: "ok",
    durationMs: 1,
    stages: [1],
    attempts: 1,
    resultBytes: 0,
    ...more,
  };
}

test("keeps the last calls, newest first, and counts all calls", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 60 }), (size, count) => {
      const recorder = new CallRecorder(size);
      for (let at = 0; at < count; at += 1) recorder.add(call({ durationMs: at }));
      const kept = recorder.newest().map(({ number }) => number);
      expect(kept).toEqual(Array.from({ length: Math.min(size, count) }, (_, back) => count - back));
      expect(recorder.counts.calls).toBe(count);
    }),
  );
});

test("counts failures, but not calls that their caller cancelled", () => {
  const recorder = new CallRecorder(10);
  for (const outcome of ["ok", "timeout", "cancelled", "tool_error"]) recorder.add(call({ outcome, source: "s" }));
  expect(recorder.counts).toEqual({ calls: 4, errors: 2 });
  expect(recorder.ofTool("t")).toMatchObject({ calls: 4, errors: 2 });
  expect(recorder.ofTool("other")).toEqual({ calls: 0, errors: 0 });
});

test("does not count a call that another call makes", () => {
  const recorder = new CallRecorder(10);
  recorder.add(call({ parent: "p", source: "s" }));
  expect(recorder.counts.calls).toBe(0);
  expect(recorder.callers()).toEqual([]);
  expect(recorder.newest()).toHaveLength(1);
});

test("returns percentiles that are values of the kept calls", () => {
  const recorder = new CallRecorder(100);
  for (let ms = 1; ms <= 100; ms += 1) recorder.add(call({ durationMs: ms }));
  expect(recorder.total).toMatchObject({ p50: 50, p95: 95, p99: 99 });
});

test("counts calls by minute and forgets the minutes of the hour before", () => {
  const now = { ms: 0 };
  const recorder = new CallRecorder(10, () => now.ms);
  recorder.add(call());
  now.ms = 60_000;
  recorder.add(call({ outcome: "timeout" }));
  expect(recorder.minutes().slice(-2)).toEqual([
    { calls: 1, errors: 0 },
    { calls: 1, errors: 1 },
  ]);
  now.ms = KEPT_MINUTES * 60_000 + 60_000;
  expect(recorder.minutes().reduce((sum, { calls }) => sum + calls, 0)).toBe(0);
});

test("keeps a limited number of callers and of their programs", () => {
  const recorder = new CallRecorder(1);
  for (let at = 0; at < 2500; at += 1) recorder.add(call({ who: `u${at}` }));
  for (let at = 0; at < 50; at += 1) recorder.add(call({ who: "one", client: `p${at}` }));
  expect(recorder.callers()).toHaveLength(2000);
  expect(recorder.callers().at(-1)!.programs).toHaveLength(8);
});
