import { describe, expect, test } from "vitest";
import { KINDS, type FailKind, type KindRow } from "./kinds.ts";
import { fail } from "./outcome.ts";

const ROWS = Object.entries<KindRow>(KINDS) as [FailKind, KindRow][];

/** Returns the codes of the rows for which `isIn` returns true, in the order of the table. */
function codes(isIn: (row: KindRow) => boolean): string[] {
  return ROWS.filter(([, row]) => isIn(row)).map(([code]) => code);
}

describe("columns of the table of outcome codes", () => {
  test("`log` has one level per code", () => {
    expect(codes(({ log }) => log === "debug")).toEqual(["cancelled"]);
    expect(codes(({ log }) => log === "error")).toEqual(["internal"]);
    expect(codes(({ log }) => log === "info")).toEqual([
      "tool_error",
      "unknown_tool",
      "ambiguous",
      "invalid_params",
      "denied",
    ]);
    expect(codes(({ log }) => log === "warning")).toEqual([
      "limited",
      "too_large",
      "unavailable",
      "needs_authorisation",
      "timeout",
      "malformed",
    ]);
  });

  test("`breaker` counts failures of the server, and ignores failures of the caller and of the hub", () => {
    expect(codes(({ breaker }) => breaker === "failure")).toEqual(["unavailable", "timeout", "malformed"]);
    expect(codes(({ breaker }) => breaker === "none")).toEqual(["cancelled", "internal"]);
  });

  test("`beforeExecution` marks refusals by the hub", () => {
    expect(codes(({ beforeExecution }) => beforeExecution)).toEqual([
      "unknown_tool",
      "ambiguous",
      "invalid_params",
      "denied",
      "limited",
    ]);
  });

  test("`unanswered` marks failures without a usable answer of the server", () => {
    expect(codes(({ unanswered }) => unanswered)).toEqual([
      "unavailable",
      "needs_authorisation",
      "timeout",
      "malformed",
      "internal",
    ]);
  });

  test("`retryable` is true for the codes whose retry rule has no further condition", () => {
    expect(codes(({ retryable }) => retryable)).toEqual(["limited", "unavailable"]);
    expect(codes(({ retry }) => retry === "always" || retry === "later")).toEqual(codes(({ retryable }) => retryable));
  });

  test("no code is both a refusal by the hub and a failure of the server", () => {
    expect(codes(({ beforeExecution, breaker }) => beforeExecution && breaker === "failure")).toEqual([]);
    expect(codes(({ beforeExecution, unanswered }) => beforeExecution && unanswered)).toEqual([]);
  });

  test("every failure that the circuit breaker counts is unanswered", () => {
    expect(codes(({ breaker, unanswered }) => breaker === "failure" && !unanswered)).toEqual([]);
  });
});

describe.each(ROWS)("fail(%s)", (code, { retryable }) => {
  test("takes `retryable` from the table of outcome codes", () => {
    expect(fail(code, "It failed.")).toEqual({ ok: false, kind: code, message: "It failed.", retryable });
  });

  test("lets `extras` override `retryable`", () => {
    expect(fail(code, "It failed.", { retryable: !retryable }).retryable).toBe(!retryable);
  });
});
