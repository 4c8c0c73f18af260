import { describe, expect, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import { createFilter, type AuditFilterOptions } from "./audit-filter.ts";

const NOW = Date.parse("2026-01-02T12:00:00.000Z");
const LINE = JSON.stringify({
  event: "call",
  time: "2026-01-02T11:00:00.000Z",
  principal: "ann",
  client: "claude",
  target: "files__read",
  source: "files",
  kind: "timeout",
  durationMs: 1500,
});

describe("filters", () => {
  test.each<[AuditFilterOptions, boolean]>([
    [{}, true],
    [{ principal: "ann" }, true],
    [{ principal: "bob" }, false],
    [{ tool: "files__*" }, true],
    [{ tool: "*write" }, false],
    [{ source: "files", client: "claud?" }, true],
    [{ event: "sign_in" }, false],
    [{ outcome: "failed" }, true],
    [{ outcome: "timeout" }, true],
    [{ outcome: "ok" }, false],
    [{ since: "2h" }, true],
    [{ since: "30m" }, false],
    [{ until: "2h" }, false],
    [{ since: "2026-01-02T10:59:59Z", until: "2026-01-02T11:00:00Z" }, true],
    [{ since: "2026-01-02T11:00:01Z" }, false],
  ])("%j match: %s", (options, matches) => {
    expect(createFilter(options, NOW)(LINE) !== undefined).toBe(matches);
  });

  test.each(["", "not json", "[1]", "null", "{"])("skip the line %j", (line) => {
    expect(createFilter({})(line)).toBeUndefined();
  });

  test.each([{ since: "soon" }, { until: "2026-99-99" }])("refuse %j", (options) => {
    expect(() => createFilter(options, NOW)).toThrow(OptionError);
  });
});
