import { describe, expect, test } from "vitest";
import { KINDS, type FailKind, type KindRow } from "../../core/calls/kinds.ts";
import { fail } from "../../core/calls/outcome.ts";
import { isAnswered } from "./mcp-manager.ts";

describe.each(Object.entries<KindRow>(KINDS) as [FailKind, KindRow][])("a failure with the code %s", (kind, row) => {
  test("is an answer of the service, as its row says", () => {
    expect(isAnswered(fail(kind, "It failed."))).toBe(!row.unanswered);
  });

  test("is an answer if the service sent a result or an error", () => {
    expect(isAnswered(fail(kind, "It failed.", { result: { content: [], isError: true } }))).toBe(true);
    expect(isAnswered(fail(kind, "It failed.", { rpcError: { code: -32000, message: "no" } }))).toBe(true);
  });
});
