import { expect, test } from "vitest";
import { refusalText } from "./refusal-text.ts";

test.each([
  [400, "invalid_params", false],
  [401, "denied", false],
  [403, "denied", false],
  [404, "unknown_tool", false],
  [405, "invalid_params", false],
  [413, "too_large", false],
  [429, "limited", true],
  [500, "internal", false],
  [503, "unavailable", true],
])("answers status %s with the outcome code %s and its `retryable` %s", (status, kind, retryable) => {
  expect(JSON.parse(refusalText({ name: "Refusal", status, message: "Refused.", headers: {} }))).toEqual({
    error: { kind, message: "Refused.", retryable },
  });
});
