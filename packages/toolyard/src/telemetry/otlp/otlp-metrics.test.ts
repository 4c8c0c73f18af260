import { expect, test } from "vitest";
import { decodeRequest, pairs } from "../../../../../test/support/otlp-receiver.ts";
import { CallCounts } from "../statistics/call-counts.ts";
import type { FinishedCall } from "../statistics/statistics-row.ts";
import { factNames } from "./names.ts";
import { OtlpBatch } from "./otlp-batch.ts";
import { OtlpMetrics } from "./otlp-metrics.ts";

const CALL: Omit<FinishedCall, "target"> = {
  source: "files",
  method: "tools/call",
  kind: "ok",
  durationMs: 3,
  argumentBytes: 10,
  resultBytes: 20,
};

interface Point {
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly count?: number;
  readonly double?: number;
}

function pointsOf(calls: readonly FinishedCall[], redact: (text: string) => string = String): Record<string, Point[]> {
  const callStatistics = new CallCounts(1000);
  for (const call of calls) callStatistics.add(call);
  const batch = new OtlpBatch({ "service.name": "tools" });
  new OtlpMetrics({ callStatistics, sources: () => [], names: factNames("current"), redact }).addTo(batch);
  const [{ scopes }] = decodeRequest("metrics", batch.take()).resources;
  return Object.fromEntries(
    scopes[0].items.map(({ name, gauge, sum, histogram }: Record<string, { points: never[] }>) => [
      name,
      (gauge ?? sum ?? histogram)!.points.map((point: Point & { attributes: never }) => ({
        ...point,
        attributes: pairs(point.attributes),
      })),
    ]),
  );
}

test("10,000 tools and 10,000 names of no tool have a bounded number of series", () => {
  const tools = Array.from({ length: 10_000 }, (_, index) => ({ ...CALL, target: `tool-${index}` }));
  const guesses = Array.from({ length: 10_000 }, (_, index) => ({
    ...CALL,
    source: undefined,
    target: `guess-${index}`,
  }));
  const points = pointsOf([...tools, ...guesses]);
  // 1,000 tools have counts of their own. The other two series are `other` and the one for all unknown names.
  expect(points["toolyard.calls"]).toHaveLength(1000 + 2);
  expect(points["mcp.server.operation.duration"]).toHaveLength(200 + 2);
  const total = points["toolyard.calls"]!.reduce((sum, { double = 0 }) => sum + double, 0);
  expect(total).toBe(20_000);
  expect(points["mcp.server.operation.duration"]!.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(20_000);
  expect(JSON.stringify(points)).not.toContain("guess-");
});

test("series have no attribute of a caller: no user, session, request or argument", () => {
  const points = pointsOf([{ ...CALL, target: "read" }]);
  const names = Object.values(points).flatMap((all) => all.flatMap(({ attributes }) => Object.keys(attributes)));
  expect(new Set(names)).toEqual(
    new Set(["mcp.method.name", "gen_ai.tool.name", "toolyard.source", "toolyard.outcome"]),
  );
});

test("names that differ only in secrets are one series with the sum of their values", () => {
  const calls = ["one", "two"].map((secret) => ({ ...CALL, target: `read_${secret}`, source: secret }));
  const points = pointsOf(calls, (text) => text.replaceAll(/one|two/g, "***"));
  expect(points["toolyard.calls"]).toMatchObject([{ double: 2, attributes: { "gen_ai.tool.name": "read_***" } }]);
  expect(points["mcp.server.operation.duration"]).toMatchObject([{ count: 2 }]);
});
