import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import { LATENCY_BOUNDS_MS, OTHER, type CallStatisticsRow } from "../../core/ports/call-statistics.ts";
import { CallCounts } from "./call-counts.ts";
import { resolveStatistics } from "./options.ts";
import type { FinishedCall } from "./statistics-row.ts";

const CALL: FinishedCall = {
  source: "files",
  target: "files__read",
  method: "tools/call",
  kind: "ok",
  durationMs: 3,
  argumentBytes: 10,
  resultBytes: 20,
};

/** Returns the rows after these calls. */
function counted(calls: readonly Partial<FinishedCall>[], maxTools = 1000): readonly CallStatisticsRow[] {
  const counts = new CallCounts(maxTools);
  for (const call of calls) counts.add({ ...CALL, ...call });
  return counts.rows().map((row) => row.read());
}

const unresolved = ({ source: _source, ...call }: FinishedCall): FinishedCall => call;

describe("rows", () => {
  test("count calls, outcomes, durations and sizes of one tool", () => {
    const rows = counted([{}, { kind: "timeout", durationMs: 700 }, { resultBytes: -1, argumentBytes: -1 }]);
    expect(rows).toMatchObject([
      {
        source: "files",
        tool: "files__read",
        method: "tools/call",
        calls: 3,
        outcomes: { ok: 2, timeout: 1 },
        totalMs: 706,
        argumentBytes: 20,
        resultBytes: 40,
      },
    ]);
    expect(rows[0]!.buckets[LATENCY_BOUNDS_MS.indexOf(5)]).toBe(2);
    expect(rows[0]!.buckets[LATENCY_BOUNDS_MS.indexOf(1000)]).toBe(1);
  });

  test.each([
    [0, 0],
    [1, 0],
    [1.1, 1],
    [300_000, LATENCY_BOUNDS_MS.length - 1],
    [300_001, LATENCY_BOUNDS_MS.length],
  ])("put a call of %s ms into bucket %i", (durationMs, bucket) => {
    expect(counted([{ durationMs }])[0]!.buckets.indexOf(1)).toBe(bucket);
  });

  test("separate tools of the same name by source, and methods of one source", () => {
    const rows = counted([
      {},
      { source: "web" },
      { method: "resources/read", target: "file:///a" },
      { method: "resources/read", target: "file:///b" },
      { method: "prompts/get", target: "greet" },
    ]);
    expect(rows.map(({ source, tool, method, calls }) => [source, tool, method, calls])).toEqual([
      ["files", "files__read", "tools/call", 1],
      ["files", "", "resources/read", 2],
      ["files", "", "prompts/get", 1],
      ["web", "files__read", "tools/call", 1],
    ]);
  });
});

describe("limits", () => {
  test("names that did not resolve share one row, even 10,000 of them", () => {
    const counts = new CallCounts(1000);
    for (let index = 0; index < 10_000; index += 1)
      counts.add({ ...unresolved(CALL), target: `guess-${index}`, kind: "unknown_tool" });
    expect(counts.rows().map((row) => row.read())).toMatchObject([
      { source: "", tool: "", calls: 10_000, outcomes: { unknown_tool: 10_000 } },
    ]);
  });

  test("tools beyond the limit count as `other` of their source, and known tools separately", () => {
    const names = Array.from({ length: 10_000 }, (_, index) => ({ target: `t${index}`, source: `s${index % 2}` }));
    const rows = counted([...names, ...names.slice(0, 3)], 3);
    expect(rows.map(({ source, tool, calls }) => [source, tool, calls])).toEqual([
      ["s0", "t0", 2],
      ["s0", "t2", 2],
      ["s0", OTHER, 4998],
      ["s1", "t1", 2],
      ["s1", OTHER, 4999],
    ]);
  });

  test("sources beyond the limit count together", () => {
    const rows = counted(Array.from({ length: 5000 }, (_, index) => ({ source: `s${index}` })));
    expect(rows).toHaveLength(1001);
    expect(rows.at(-1)).toMatchObject({ source: OTHER, tool: OTHER, calls: 4000 });
  });

  test("with a limit of 0, all tools of a source count together", () => {
    expect(counted([{}, { target: "b" }], 0)).toMatchObject([{ source: "files", tool: OTHER, calls: 2 }]);
  });

  test("all calls of any sequence are counted, in a limited number of rows", () => {
    const kinds: readonly (FailKind | "ok")[] = ["ok", ...(Object.keys(KINDS) as FailKind[])];
    const call = fc.record({
      source: fc.option(fc.constantFrom("a", "b", "__proto__"), { nil: undefined }),
      target: fc.oneof(fc.string(), fc.constantFrom("constructor", "other", "")),
      method: fc.constantFrom("tools/call", "resources/read", "extension"),
      kind: fc.constantFrom(...kinds),
      durationMs: fc.double({ min: 0, max: 1e7, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 200 }), (calls) => {
        const rows = counted(calls as Partial<FinishedCall>[], 5);
        const sum = (read: (row: (typeof rows)[number]) => number): number =>
          rows.reduce((total, row) => total + read(row), 0);
        expect(sum((row) => row.calls)).toBe(calls.length);
        expect(sum((row) => row.buckets.reduce((a, b) => a + b, 0))).toBe(calls.length);
        expect(sum((row) => Object.values(row.outcomes).reduce((a, b) => a + b, 0))).toBe(calls.length);
        // Five tools; and for each of four sources, `other` and three methods.
        expect(rows.length).toBeLessThanOrEqual(5 + 4 * 4);
      }),
      { seed: 38, numRuns: 200 },
    );
  });
});

test("`max_tools` has a default and limits", () => {
  expect(resolveStatistics()).toEqual({ maxTools: 1000 });
  expect(resolveStatistics({ max_tools: 0 })).toEqual({ maxTools: 0 });
});
