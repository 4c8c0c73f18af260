import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Call, CallNotification } from "../core/calls/call.ts";
import type { JsonObject } from "../core/json/json.ts";
import { createHarness, never, text, toolFrom, type Handler, type Harness } from "../../../../test/support/pipeline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Creates a pipeline with the tool `t`, whose server is downloaded during the first `until` milliseconds. */
function downloadingUntil(until: number, handler: Handler): Harness {
  const startedAt = Date.now();
  const waitsFor = (_call: Call, provider: unknown): string | undefined =>
    provider !== undefined && Date.now() - startedAt < until
      ? `downloading for ${Date.now() - startedAt} ms`
      : undefined;
  return createHarness({ t: toolFrom("t", handler) }, { limits: { call_timeout: "10m" }, deps: { waitsFor } });
}

/**
 * Calls `t`, lets `ms` milliseconds pass, and returns the parameters of the progress notifications that the caller
 * received.
 */
async function progressWithin(ms: number, harness: Harness, wants: Call["wants"]): Promise<JsonObject[]> {
  const received: CallNotification[] = [];
  const controller = new AbortController();
  const call = harness.call("t", {}, { wants, notify: (one) => void received.push(one), signal: controller.signal });
  await vi.advanceTimersByTimeAsync(ms);
  controller.abort();
  await call;
  expect(vi.getTimerCount()).toBe(0);
  return received.map(({ params }) => params);
}

/** Returns a tool that, after `ms` milliseconds, reports these values, one per second. */
function reportsAfter(ms: number, values: readonly number[]): Handler {
  return (call) =>
    new Promise((resolve) => {
      values.forEach((progress, index) => {
        setTimeout(() => call.notify({ method: "notifications/progress", params: { progress } }), ms + index * 1000);
      });
      setTimeout(() => resolve(text("done")), ms + values.length * 1000);
    });
}

test("a call that waits for a download sends increasing progress with a message every 5 s", async () => {
  const sent = await progressWithin(16_000, downloadingUntil(60_000, never), { progress: true });
  expect(sent.map(({ message }) => message)).toEqual([5000, 10_000, 15_000].map((ms) => `downloading for ${ms} ms`));
  const values = sent.map(({ progress }) => Number(progress));
  expect(values).toEqual(values.toSorted((a, b) => a - b));
  expect(new Set(values).size).toBe(3);
});

test("a call without a download, or whose caller requests no progress, sends none", async () => {
  expect(await progressWithin(60_000, downloadingUntil(0, never), { progress: true })).toEqual([]);
  expect(await progressWithin(60_000, downloadingUntil(60_000, never), { progress: false })).toEqual([]);
});

test("progress of the tool follows progress of the hub, and is never below it", async () => {
  const harness = downloadingUntil(11_000, reportsAfter(12_000, [0, 1, 2]));
  const sent = await progressWithin(30_000, harness, { progress: true });
  expect(sent.map(({ message, progress }) => message ?? progress)).toEqual([
    "downloading for 5000 ms",
    "downloading for 10000 ms",
    1,
    2,
  ]);
});

test("the hub sends no progress after progress of the tool", async () => {
  const harness = downloadingUntil(60_000, reportsAfter(1000, [0, 0.5]));
  expect(await progressWithin(3500, harness, { progress: true })).toEqual([{ progress: 0 }, { progress: 0.5 }]);
  const slow = downloadingUntil(60_000, (call) => {
    call.notify({ method: "notifications/progress", params: { progress: 0 } });
    return never();
  });
  expect(await progressWithin(30_000, slow, { progress: true })).toEqual([{ progress: 0 }]);
});

test("progress without a number passes unchanged", async () => {
  const harness = downloadingUntil(0, (call) => {
    call.notify({ method: "notifications/progress", params: { message: "half" } });
    return text("done");
  });
  expect(await progressWithin(10, harness, { progress: true })).toEqual([{ message: "half" }]);
});
