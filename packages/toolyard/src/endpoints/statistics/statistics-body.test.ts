import { expect, test } from "vitest";
import { Redactor } from "../../telemetry/redactor.ts";
import { CallCounts } from "../../telemetry/statistics/call-counts.ts";
import { statisticsJson } from "./statistics-body.ts";

test("the body is valid JSON without a secret in a name, even after a quotation mark", () => {
  const redactor = new Redactor();
  const callStatistics = new CallCounts(10);
  callStatistics.add({
    source: "s",
    target: 'token="hunter22secret"',
    method: "tools/call",
    kind: "ok",
    durationMs: 1,
    argumentBytes: 0,
    resultBytes: 0,
  });
  const redactFacts = redactor.facts.bind(redactor);
  const body = statisticsJson({ callStatistics, startedAt: new Date(), redactFacts });
  expect(JSON.parse(body)).toMatchObject({
    rows: [{ source: "s", calls: 1, tool: expect.stringContaining("token=") }],
  });
  expect(body).not.toContain("hunter22secret");
});
