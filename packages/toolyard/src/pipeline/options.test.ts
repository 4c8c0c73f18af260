import { expect, test } from "vitest";
import { OptionError } from "../core/errors.ts";
import { LimitsSchema, resolveLimits } from "./options.ts";

test("the defaults equal the documented ones", () => {
  expect(resolveLimits()).toEqual({
    callTimeoutMs: 60_000,
    totalTimeoutMs: 3_600_000,
    inFlight: 64,
    queue: 100,
    maxResultBytes: 10_000_000,
    slowCallMs: 10_000,
    outputValidation: "warn",
    confirmDestructive: false,
    breaker: { failures: 5, coolDownMs: 5000 },
    retries: { attempts: 3, baseDelayMs: 100, maxDelayMs: 2000 },
  });
});

test("reads durations and sizes as text and as numbers", () => {
  const options = resolveLimits({
    call_timeout: "5m",
    total_timeout: 1000,
    max_result_bytes: "1MiB",
    breaker: { cool_down: "1s" },
    retries: { attempts: 1, max_delay: 10 },
  });
  expect(options).toMatchObject({
    callTimeoutMs: 300_000,
    totalTimeoutMs: 1000,
    maxResultBytes: 1_048_576,
    breaker: { failures: 5, coolDownMs: 1000 },
    retries: { attempts: 1, maxDelayMs: 10 },
  });
});

test.each([
  { call_timeout: 0 },
  { call_timeout: "soon" },
  { rate_per_minute: -1 },
  { in_flight: 1.5 },
  { max_result_bytes: "big" },
  { breaker: { failures: 0 } },
  { retries: { attempts: 0 } },
  { output_validation: "loose" as never },
])("refuses %j", (raw) => {
  expect(() => resolveLimits(raw)).toThrow(OptionError);
});

test("every key has a description and its default", () => {
  for (const [key, schema] of Object.entries(LimitsSchema.properties)) {
    expect(schema.description, key).toBeTruthy();
    if (key !== "breaker" && key !== "retries") expect(schema.default, key).toBeDefined();
  }
});
