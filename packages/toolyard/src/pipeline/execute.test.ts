import { expect, test } from "vitest";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import { createHarness, never, text, toolFrom, type Handler } from "../../../../test/support/pipeline.ts";

function one(handler: Handler): ReturnType<typeof createHarness> {
  return createHarness({ t: toolFrom("t", handler) });
}

test.each(["needs_authorisation", "limited", "unavailable", "invalid_params", "too_large"] as const)(
  "returns a provider's %s to the caller unchanged",
  async (kind) => {
    const failure = fail(kind, "why", { rpcError: { code: -32001, message: "why", data: 1 }, details: { sent: true } });
    expect(await one(() => failure).call("t")).toEqual(failure);
  },
);

test("returns the failure that a provider throws", async () => {
  const failure = fail("needs_authorisation", "Sign in.", { details: { signIn: "https://example.com" } });
  expect(
    await one(() => {
      throw new FailError(failure);
    }).call("t"),
  ).toBe(failure);
});

test("answers a disconnecting caller immediately, even if the provider ignores the signal", async () => {
  const controller = new AbortController();
  const harness = one(() => {
    queueMicrotask(() => controller.abort());
    return never();
  });
  expect(await harness.call("t", {}, { signal: controller.signal })).toMatchObject({ kind: "cancelled" });
});

test("does not call the provider for a caller that has already disconnected", async () => {
  let calls = 0;
  const harness = one(() => {
    calls += 1;
    return text("ran");
  });
  expect(await harness.call("t", {}, { signal: AbortSignal.abort() })).toMatchObject({ kind: "cancelled" });
  expect([calls, harness.audit.length]).toEqual([0, 1]);
});

test("ignores a late exception of a provider", async () => {
  const controller = new AbortController();
  let rejectLate!: (error: Error) => void;
  const harness = one(() => {
    queueMicrotask(() => controller.abort());
    return new Promise((_, reject) => {
      rejectLate = reject;
    });
  });
  expect(await harness.call("t", {}, { signal: controller.signal })).toMatchObject({ kind: "cancelled" });
  rejectLate(new Error("late"));
  await new Promise((resolve) => void setImmediate(resolve));
});
