import { describe, expect, test } from "vitest";
import { LATENCY_BOUNDS_MS, type CallStatisticsRow } from "../../core/ports/call-statistics.ts";
import { callsBetween, readSample, type CallSample } from "./call-rows.ts";
import { createReport, quantile } from "./top-report.ts";
import { topText } from "./top-text.ts";

const EMPTY = LATENCY_BOUNDS_MS.map(() => 0).concat(0);

/** Returns counts of calls that each took about `ms` milliseconds. */
function row(tool: string, calls: number, ms: number, more: Partial<CallStatisticsRow> = {}): CallStatisticsRow {
  const bucket = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return {
    source: "files",
    tool,
    method: "tools/call",
    calls,
    outcomes: { ok: calls },
    totalMs: calls * ms,
    buckets: EMPTY.with(bucket, calls),
    argumentBytes: 0,
    resultBytes: 0,
    ...more,
  };
}

function sample(rows: readonly CallStatisticsRow[], uptimeMs = 10_000, startedAt = "then"): CallSample {
  return { startedAt, uptimeMs, boundsMs: LATENCY_BOUNDS_MS, rows };
}

describe("rankings", () => {
  const report = createReport(
    sample([
      row("fast", 100, 2),
      row("slow", 3, 4000),
      row("broken", 10, 20, { outcomes: { ok: 4, timeout: 5, malformed: 1 } }),
      row("left", 2, 20, { outcomes: { cancelled: 2 } }),
      row("", 7, 1, { source: "", outcomes: { unknown_tool: 7 } }),
      row("", 5, 30, { source: "web", method: "resources/read" }),
    ]),
    3,
  );

  test("rankings order tools by calls, p95 and failures, up to the limit of rows", () => {
    expect(report.busiest.map(({ name, calls }) => [name, calls])).toEqual([
      ["fast", 100],
      ["broken", 10],
      ["tools/call (not found)", 7],
    ]);
    expect(report.slowest[0]).toMatchObject({ name: "slow", calls: 3 });
    expect(report.slowest).toHaveLength(3);
  });

  test("rankings do not count a cancelled call as failed, and name the most frequent failure", () => {
    expect(report.failing.map(({ name, failed, failure }) => [name, failed, failure])).toEqual([
      ["tools/call (not found)", 7, "unknown_tool"],
      ["broken", 6, "timeout"],
    ]);
    expect([report.calls, report.failed]).toEqual([127, 13]);
  });

  test("rankings sum the rows of each source, without calls that reached no source", () => {
    expect(report.sources.map(({ source, calls, failed }) => [source, calls, failed])).toEqual([
      ["files", 115, 6],
      ["web", 5, 0],
    ]);
    expect(report.sources[0]!.perSecond).toBe(11.5);
  });
});

describe("quantile", () => {
  test.each([
    [0.5, [0, 0], 0],
    [0.5, [10, 0], 5],
    [1, [10, 0], 10],
    [0.5, [5, 5], 10],
    [0.75, [5, 5], 10],
  ])("the quantile %s in buckets %j is %s", (share, buckets, wanted) => {
    expect(quantile(share, buckets, [10])).toBe(wanted);
  });
});

describe("calls between two samples", () => {
  test("calls between two samples are the differences, without unchanged rows", () => {
    const earlier = sample([row("a", 5, 2), row("b", 5, 2)], 1000);
    const later = sample([row("a", 5, 2), row("b", 7, 2, { outcomes: { ok: 5, denied: 2 } }), row("c", 1, 2)], 3000);
    const between = callsBetween(earlier, later);
    expect(between.uptimeMs).toBe(2000);
    expect(between.rows.map(({ tool, calls, outcomes }) => [tool, calls, outcomes])).toEqual([
      ["b", 2, { denied: 2 }],
      ["c", 1, { ok: 1 }],
    ]);
  });

  test("after a restart of the hub, all calls of the later sample count", () => {
    const later = sample([row("a", 2, 2)], 3000, "now");
    expect(callsBetween(sample([row("a", 5, 2)], 1000), later)).toEqual(later);
  });
});

test("reads a response of another version, and drops rows that it cannot use", () => {
  const rows = [row("a", 1, 2), { tool: 5 }, null, "x", { ...row("b", 1, 1), buckets: undefined }];
  const read = readSample({ startedAt: "then", uptimeMs: 1, latencyBoundsMs: LATENCY_BOUNDS_MS, rows });
  expect(read.rows.map(({ tool }) => tool)).toEqual(["a"]);
});

describe("text", () => {
  const report = createReport(sample([row("a\u001b[31m", 3, 4000)]), 5);

  test("the text has the totals and a table for each ranking with rows, without control characters", () => {
    const text = topText(report, "toolyard 1", { color: false });
    expect(text).toContain("3 calls in 10 s (0.30/s), 0 failed");
    expect(text).toMatch(/Busiest tools\ntool +source +calls +per s +p50 +p95 +tokens +failed/);
    expect(text).not.toContain("Failing tools");
    expect(text).not.toContain("\u001b");
  });

  test("the text fits a narrow terminal", () => {
    const text = topText(report, "toolyard 1", { color: false, width: 50 });
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(50);
    expect(text).not.toContain("per s");
  });

  test("the text reports that there are no calls", () => {
    expect(topText(createReport(sample([]), 5), "toolyard 1", { color: false })).toContain("No calls yet.");
  });
});
