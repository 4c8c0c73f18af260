import { expect, test } from "vitest";
import { fail, ok } from "../core/calls/outcome.ts";
import { withUpstreamKind } from "./upstream-kind.ts";

const said = (kind: string) => ({ content: [], isError: true, _meta: { "toolyard/kind": kind } });

test("takes the outcome code of an upstream hub from a result or from an error", () => {
  expect(withUpstreamKind(fail("tool_error", "late", { result: said("timeout") }))).toMatchObject({
    kind: "timeout",
    message: "late",
  });
  const rpcError = { code: -32_602, message: "several", data: { "toolyard/kind": "ambiguous" } };
  expect(withUpstreamKind(fail("invalid_params", "several", { rpcError }))).toMatchObject({
    kind: "ambiguous",
    rpcError,
  });
});

test("keeps the failure if its code is unknown or no hub reported one", () => {
  for (const outcome of [
    fail("tool_error", "x", { result: said("toString") }),
    fail("tool_error", "x", { rpcError: { code: 1, message: "x", data: "timeout" } }),
    fail("denied", "x"),
    ok(said("timeout")),
  ]) {
    expect(withUpstreamKind(outcome)).toBe(outcome);
  }
});

test("takes the retry time of a limited failure from the upstream hub", () => {
  const later = { ...said("limited"), _meta: { "toolyard/kind": "limited", "toolyard/retryAfterMs": 49 } };
  const limited = { kind: "limited", retryable: true, retryAfterMs: 49 };
  expect(withUpstreamKind(fail("tool_error", "x", { result: later }))).toMatchObject(limited);
  expect(withUpstreamKind(fail("tool_error", "x", { result: said("limited") }))).toMatchObject({ retryable: false });
});
