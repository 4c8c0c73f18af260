import { expect, test } from "vitest";
import { KINDS, type FailKind, type KindRow } from "../../core/calls/kinds.ts";
import { fail } from "../../core/calls/outcome.ts";
import { toFailure } from "./results.ts";

test.each(Object.entries<KindRow>(KINDS) as [FailKind, KindRow][])(
  "converts a failure with the code %s to the status in the table of outcome codes",
  (kind, { beforeExecution, status }) => {
    const error =
      kind === "unknown_tool" ? "Tool not found" : beforeExecution ? "It failed." : "Tool execution failed: It failed.";
    expect(toFailure(fail(kind, "It failed."))).toEqual({ error, status_code: status });
  },
);
