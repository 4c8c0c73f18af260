import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FirstCaller } from "./first-caller.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate"] }));
afterEach(() => void vi.useRealTimers());

test("detects the era of a client that writes late because the endpoint was opened late", async () => {
  const caller = new FirstCaller();
  await vi.advanceTimersByTimeAsync(5000);
  caller.listening();
  await vi.advanceTimersByTimeAsync(200);
  caller.setEra("legacy");
  expect(await caller.era).toBe("legacy");
});

test("reads input that arrived before the timeout even if the event loop is busy", async () => {
  const caller = new FirstCaller();
  setTimeout(() => setImmediate(() => caller.setEra("modern")), 300);
  caller.listening();
  await vi.advanceTimersByTimeAsync(301);
  expect(await caller.era).toBe("modern");
});

test.each([
  { what: "that sends nothing", isListening: true, afterMs: 301 },
  { what: "without an open endpoint", isListening: false, afterMs: 10_000 },
])("sources no longer wait for a client $what", async ({ isListening, afterMs }) => {
  const caller = new FirstCaller();
  if (isListening) caller.listening();
  await vi.advanceTimersByTimeAsync(afterMs);
  caller.setEra("legacy");
  expect(await caller.era).toBeUndefined();
});
