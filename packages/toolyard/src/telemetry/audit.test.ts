import { expect, test } from "vitest";
import type { AuditLine } from "../core/ports/audit.ts";
import { createAudit } from "./audit.ts";
import { Redactor } from "./redactor.ts";

const LINE: AuditLine = {
  time: "2026-01-02T03:04:05.006Z",
  call: "call-1",
  endpoint: "test",
  principal: "local",
  method: "tools/call",
  target: "files__read",
  kind: "ok",
  durationMs: 1.5,
  argumentBytes: 2,
  resultBytes: 3,
  attempts: 1,
};

function written(line: AuditLine): string {
  const lines: string[] = [];
  const sink = { write: ({ text }: { text(): string }) => void lines.push(text()) };
  createAudit([sink as never], { redactor: new Redactor() }).write(line);
  return lines.join("\n");
}

test.each([
  ["files__9007199254740993"],
  ["18446744073709551615"],
  ["db://rows/9223372036854775807"],
  [`t${"9".repeat(100)}`],
])("an audit line keeps the digits of the target %s", (target) => {
  expect(JSON.parse(written({ ...LINE, target }))).toMatchObject({ target });
});

test("an audit line keeps integers beyond 2^53 as digits", () => {
  expect(written({ ...LINE, argumentBytes: 9_007_199_254_740_993n as never })).toContain(
    '"argumentBytes":9007199254740993,',
  );
});

test("an audit line has no argument and no result value", () => {
  expect(Object.keys(JSON.parse(written(LINE)) as object).toSorted()).toEqual(
    ["event", "resultTokens", ...Object.keys(LINE)].toSorted(),
  );
});
