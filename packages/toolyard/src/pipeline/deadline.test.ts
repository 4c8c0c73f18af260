import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadline } from "../core/calls/deadline.ts";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import type { ResolvedCall } from "../core/sources/provider.ts";
import { createHarness, never, text, toolFrom, type Handler, type Harness } from "../../../../test/support/pipeline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function every(periodMs: number, totalMs: number): Handler {
  return (call) =>
    new Promise((resolve) => {
      const timer = setInterval(
        () => call.notify({ method: "notifications/progress", params: { progress: 1 } }),
        periodMs,
      );
      setTimeout(() => {
        clearInterval(timer);
        resolve(text("done"));
      }, totalMs);
    });
}

async function settled(outcome: Promise<Outcome>, withinMs: number): Promise<Outcome> {
  await vi.advanceTimersByTimeAsync(withinMs);
  return outcome;
}

test("a minute without activity is a timeout, even if the provider ignores its signal", async () => {
  const harness = createHarness({ t: toolFrom("t", never) });
  const outcome = await settled(harness.call("t"), MINUTE + 10);
  expect(outcome).toMatchObject({ kind: "timeout", retryable: false, details: { timeoutMs: MINUTE } });
  expect(vi.getTimerCount()).toBe(0);
});

test("waits for an hour for work with progress", async () => {
  const harness = createHarness({ t: toolFrom("t", every(50_000, HOUR - MINUTE)) });
  expect(await settled(harness.call("t"), HOUR)).toMatchObject({ ok: true });
});

test("progress does not extend a call beyond one hour", async () => {
  const harness = createHarness({ t: toolFrom("t", every(50_000, 2 * HOUR)) });
  expect(await settled(harness.call("t"), HOUR + 10)).toMatchObject({ kind: "timeout", details: { timeoutMs: HOUR } });
});

test("log messages do not count as activity", async () => {
  const chatty: Handler = (call) => {
    setInterval(() => call.notify({ method: "notifications/message", params: {} }), 1000).unref();
    return never();
  };
  expect(await settled(createHarness({ t: toolFrom("t", chatty) }).call("t"), MINUTE + 10)).toMatchObject({
    kind: "timeout",
  });
});

test("a tool's own time limit may be longer or shorter than the hub's", async () => {
  const harness = createHarness({
    long: toolFrom("long", every(10 * MINUTE, 30 * MINUTE), { limits: { timeoutMs: 10 * MINUTE + 1 } }),
    short: toolFrom("short", never, { limits: { timeoutMs: 100 } }),
    total: toolFrom("total", every(50, HOUR), { limits: { totalTimeoutMs: 500 } }),
    source: { ...toolFrom("source", never), limits: { timeoutMs: 200 } },
  });
  expect(await settled(harness.call("long"), 31 * MINUTE)).toMatchObject({ ok: true });
  expect(await settled(harness.call("short"), 110)).toMatchObject({ kind: "timeout", details: { timeoutMs: 100 } });
  expect(await settled(harness.call("total"), 510)).toMatchObject({ kind: "timeout", details: { timeoutMs: 500 } });
  expect(await settled(harness.call("source"), 210)).toMatchObject({ kind: "timeout", details: { timeoutMs: 200 } });
});

test("C20: a caller's deadline shortens the hub's, and progress counts as activity of both", async () => {
  const harness = createHarness({ t: toolFrom("t", never), p: toolFrom("p", every(50, 1000)) });
  const deadline = new Deadline({ idleMs: 100, totalMs: HOUR });
  expect(await settled(harness.call("t", {}, { deadline }), 110)).toMatchObject({ kind: "timeout" });
  const outer = new Deadline({ idleMs: 100, totalMs: HOUR });
  expect(await settled(harness.call("p", {}, { deadline: outer }), 1010)).toMatchObject({ ok: true });
  expect(outer.signal.aborted).toBe(false);
  outer.clear();
});

test("C20: the provider sees the remaining time", async () => {
  const seen: number[] = [];
  const look: Handler = ({ deadline }) => {
    seen.push(deadline!.remainingMs);
    return text("x");
  };
  const deadline = new Deadline({ idleMs: 500, totalMs: 500 });
  await createHarness({ t: toolFrom("t", look) }).call("t", {}, { deadline });
  deadline.clear();
  expect(seen[0]).toBeLessThanOrEqual(500);
});

test("a forwarding tool has no time limit: the limit of the inner tool applies", async () => {
  const harness: Harness = createHarness({
    long: toolFrom("long", () => new Promise((resolve) => void setTimeout(() => resolve(text("done")), 5 * MINUTE)), {
      limits: { timeoutMs: 10 * MINUTE },
    }),
    short: toolFrom("short", never),
    outer: toolFrom(
      "execute_tool",
      (call) =>
        harness.call(
          String(call.arguments["name"]),
          {},
          { parent: call.id, deadline: call.deadline!, signal: call.signal },
        ),
      {
        kind: "builtin",
        limits: { timeoutMs: Infinity },
      },
    ),
  });
  expect(await settled(harness.call("outer", { name: "long" }), 6 * MINUTE)).toMatchObject({ ok: true });
  expect(await settled(harness.call("outer", { name: "short" }), MINUTE + 10)).toMatchObject({
    kind: "timeout",
    details: { timeoutMs: MINUTE },
  });
});

test("the time limit of a call includes the time to find its target", async () => {
  const harness = createHarness({}, { deps: { resolve: () => new Promise(() => {}) } });
  expect(await settled(harness.call("t"), MINUTE + 10)).toMatchObject({ kind: "timeout" });
});

test("the time limit of a call includes its time in the queue", async () => {
  const harness = createHarness({ t: toolFrom("t", never, { limits: { maxConcurrent: 1, timeoutMs: 1000 } }) });
  const first = harness.call("t");
  await vi.advanceTimersByTimeAsync(500);
  const second = harness.call("t");
  expect(await settled(first, 510)).toMatchObject({ kind: "timeout" });
  expect(await settled(second, 510)).toMatchObject({ kind: "timeout" });
  expect(harness.audit.map(({ attempts }) => attempts)).toEqual([1, 1]);
});

test("only the total limit applies while a user is asked", async () => {
  let answer!: (result: object) => void;
  const asking: Handler = async (call) => {
    await call.ask({ method: "elicitation/create", params: {} });
    return text("thanks");
  };
  const harness = createHarness({ t: toolFrom("t", asking) });
  const ask = (): Promise<never> =>
    new Promise((resolve) => {
      answer = resolve as never;
    });
  const outcome = harness.call("t", {}, { ask });
  await vi.advanceTimersByTimeAsync(30 * MINUTE);
  answer({});
  expect(await outcome).toMatchObject({ ok: true });
  const unanswered = harness.call("t", {}, { ask });
  expect(await settled(unanswered, HOUR + 10)).toMatchObject({ kind: "timeout" });
});

test("drops messages after the end of the call", async () => {
  let late!: ResolvedCall;
  const notifications: unknown[] = [];
  const harness = createHarness({
    t: toolFrom("t", (call) => {
      late = call;
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      return text("done");
    }),
  });
  await harness.call("t", {}, { notify: (notification) => void notifications.push(notification) });
  late.notify({ method: "notifications/progress", params: { progress: 2 } });
  expect(notifications).toEqual([{ method: "notifications/progress", params: { progress: 1 } }]);
  await expect(late.ask({ method: "sampling/createMessage", params: {} })).rejects.toMatchObject({
    failure: { kind: "cancelled" },
  });
});

test("a finished call leaves no timer and no listener", async () => {
  const controller = new AbortController();
  const harness = createHarness({ t: toolFrom("t", () => text("x")) });
  for (let count = 0; count < 50; count += 1) await harness.call("t", {}, { signal: controller.signal });
  expect([vi.getTimerCount(), getEventListeners(controller.signal, "abort").length]).toEqual([0, 0]);
});

test("a call that timed out fails with the known reason of the delay, and any other failure is unchanged", async () => {
  const why = fail("unavailable", "files is installing");
  const late = createHarness(
    { t: toolFrom("t", never), bad: toolFrom("bad", () => fail("too_large", "big")) },
    { limits: { call_timeout: "20ms" }, deps: { whyLate: (_call, provider) => (provider ? why : undefined) } },
  );
  const call = late.call("t");
  await vi.advanceTimersByTimeAsync(1000);
  expect(await call).toBe(why);
  expect(await late.call("bad")).toMatchObject({ kind: "too_large" });
});
