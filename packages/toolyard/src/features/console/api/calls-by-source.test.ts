import { expect, test } from "vitest";
import type { FailKind } from "../../../core/calls/kinds.ts";
import { CallCounts } from "../../../telemetry/statistics/call-counts.ts";
import { CallRecorder } from "../recorder/call-recorder.ts";
import { callsBySource } from "./calls-by-source.ts";

function counted(calls: readonly { readonly target: string; readonly kind: FailKind | "ok" }[]): CallCounts {
  const counts = new CallCounts(1000);
  const usual = { source: "s", method: "tools/call", durationMs: 1, argumentBytes: 0, resultBytes: 0 } as const;
  for (const call of calls) counts.add({ ...usual, ...call });
  return counts;
}

test("counts the failures of all tools of a source, but not calls that their caller cancelled", () => {
  const callStatistics = counted([
    { target: "s__a", kind: "ok" },
    { target: "s__a", kind: "timeout" },
    { target: "s__b", kind: "cancelled" },
    { target: "s__b", kind: "tool_error" },
  ]);
  expect(callsBySource({ callStatistics, recentCalls: undefined }).get("s")).toEqual({ calls: 4, errors: 2 });
  expect(callsBySource({ callStatistics, recentCalls: undefined }).get("other")).toBeUndefined();
});

test("adds up the percentiles of the recorded calls of a source", () => {
  const recentCalls = new CallRecorder(10);
  for (const startedAt of [10, 20])
    recentCalls.add(
      {
        call: "c",
        time: "2026-01-01T00:00:00.000Z",
        principal: "local",
        who: "local",
        endpoint: "rest",
        method: "tools/call",
        source: "s",
        target: "s__a",
        kind: "ok",
        durationMs: 1,
        attempts: 1,
        resultBytes: 0,
      },
      [startedAt],
    );
  const [last, first] = recentCalls.find(() => true, 10).calls.map(({ durationMs }) => durationMs);
  const callStatistics = counted([{ target: "s__a", kind: "ok" }]);
  expect(callsBySource({ callStatistics, recentCalls }).get("s")).toMatchObject({ calls: 1, p50: last, p95: first });
});
