import { describe, expect, test } from "vitest";
import { KINDS, type FailKind, type KindRow } from "../../core/calls/kinds.ts";
import { fail } from "../../core/calls/outcome.ts";
import { isAnswered } from "./mcp-manager.ts";

describe.each(Object.entries<KindRow>(KINDS) as [FailKind, KindRow][])("failures with the code %s", (kind, row) => {
  test("counts as a response of the service if the table of outcome codes says so", () => {
    expect(isAnswered(fail(kind, "It failed."))).toBe(!row.unanswered);
  });

  test("counts as a response of the service if the failure holds a result or an error of the service", () => {
    expect(isAnswered(fail(kind, "It failed.", { result: { content: [], isError: true } }))).toBe(true);
    expect(isAnswered(fail(kind, "It failed.", { rpcError: { code: -32000, message: "no" } }))).toBe(true);
  });
});
