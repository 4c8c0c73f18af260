import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadline } from "../core/calls/deadline.ts";
import { KINDS, type FailKind, type KindRow } from "../core/calls/kinds.ts";
import { fail, ok, type Outcome } from "../core/calls/outcome.ts";
import { createHarness, never, text, toolFrom, type Handler, type Harness } from "../../../../test/support/pipeline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const unsent = fail("unavailable", "not connected", { details: { sent: false } });
const sent = fail("unavailable", "died", { retryable: false, details: { sent: true } });
const IDEMPOTENT = { definition: { annotations: { idempotentHint: true } } };
const READ_ONLY = { definition: { annotations: { readOnlyHint: true } } };

/** Returns a handler that answers with each outcome once, then always with the last one. */
function script(...outcomes: readonly Outcome[]): Handler & { calls: number } {
  const handler = Object.assign(
    () => {
      const outcome = outcomes[Math.min(handler.calls, outcomes.length - 1)]!;
      handler.calls += 1;
      return outcome;
    },
    { calls: 0 },
  );
  return handler;
}

async function run(harness: Harness, target = "t"): Promise<Outcome> {
  const outcome = harness.call(target);
  await vi.advanceTimersByTimeAsync(10_000);
  return outcome;
}

test("C45: repeats a call that was never sent, and reports the number of attempts", async () => {
  const handler = script(unsent, unsent, text("there"));
  const harness = createHarness({ t: toolFrom("t", handler) });
  expect(await run(harness)).toMatchObject({ ok: true, attempts: 3 });
  expect(harness.audit[0]).toMatchObject({ kind: "ok", attempts: 3 });
});

test("C45: does not repeat a call that was sent, because it may have succeeded", async () => {
  const handler = script(sent, text("twice"));
  expect(await run(createHarness({ t: toolFrom("t", handler) }))).toEqual(sent);
  expect(handler.calls).toBe(1);
});

test.each([
  ["idempotent", IDEMPOTENT],
  ["read-only", READ_ONLY],
])("C45: repeats a sent call if the tool is %s", async (_, annotations) => {
  for (const failure of [sent, fail("malformed", "half an answer")]) {
    expect(await run(createHarness({ t: toolFrom("t", script(failure, text("again")), annotations) }))).toMatchObject({
      ok: true,
      attempts: 2,
    });
  }
});

test("C45: a failure without `sent` counts as sent", async () => {
  const vague = fail("unavailable", "broke off");
  expect(await run(createHarness({ t: toolFrom("t", script(vague, text("twice"))) }))).toEqual(vague);
  expect(await run(createHarness({ t: toolFrom("t", script(vague, text("again")), IDEMPOTENT) }))).toMatchObject({
    ok: true,
    attempts: 2,
  });
});

test("does not repeat a call after a permanent failure", async () => {
  const hopeless = fail("unavailable", "HTTP 405", { retryable: false, details: { sent: false } });
  for (const failure of [
    hopeless,
    fail("tool_error", "no"),
    fail("needs_authorisation", "sign in"),
    fail("limited", "later"),
  ]) {
    const handler = script(failure, text("again"));
    expect(await run(createHarness({ t: toolFrom("t", handler, IDEMPOTENT) }))).toEqual(failure);
    expect(handler.calls).toBe(1);
  }
});

test("limits the number of attempts", async () => {
  const handler = script(unsent);
  expect(await run(createHarness({ t: toolFrom("t", handler) }))).toMatchObject({ kind: "unavailable", attempts: 3 });
  expect(handler.calls).toBe(3);
  const once = script(unsent);
  await run(createHarness({ t: toolFrom("t", once) }, { limits: { retries: { attempts: 1 } } }));
  expect(once.calls).toBe(1);
});

test("does not repeat a call that an inner call has already repeated", async () => {
  const inner = script(unsent);
  const harness: Harness = createHarness({
    t: toolFrom("t", inner),
    outer: toolFrom("execute_tool", (call) => harness.call("t", {}, { parent: call.id }), { kind: "builtin" }),
  });
  expect(await run(harness, "outer")).toMatchObject({ kind: "unavailable", attempts: 3 });
  expect(inner.calls).toBe(3);
});

test("does not repeat a call after the deadline, nor before the server's retry time", async () => {
  const handler = script(fail("unavailable", "busy", { retryAfterMs: 1500, details: { sent: false } }), text("there"));
  const deadline = new Deadline({ idleMs: 1000, totalMs: 1000 });
  const harness = createHarness({ t: toolFrom("t", handler) });
  expect(await harness.call("t", {}, { deadline })).toMatchObject({ kind: "unavailable", message: "busy" });
  deadline.clear();
  const patient = harness.call("t");
  await vi.advanceTimersByTimeAsync(1400);
  expect(handler.calls).toBe(2);
  expect(await patient).toMatchObject({ ok: true });
});

test("does not repeat a call if the server requires a longer pause than allowed", async () => {
  const later = fail("unavailable", "maintenance", { retryAfterMs: 60_000, details: { sent: false } });
  const handler = script(later, text("there"));
  expect(await run(createHarness({ t: toolFrom("t", handler) }))).toEqual(later);
});

test("answers a caller that disconnects during the pause immediately", async () => {
  const controller = new AbortController();
  const harness = createHarness({ t: toolFrom("t", script(unsent)) }, { limits: { retries: { base_delay: "2s" } } });
  const outcome = harness.call("t", {}, { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(0);
  controller.abort();
  expect(["cancelled"]).toContain(await outcome.then((result) => (result.ok ? "ok" : result.kind)));
});

test("a call cancelled during the pause does not count against the server", async () => {
  const limits = { retries: { attempts: 2, base_delay: "2s" }, breaker: { failures: 1, cool_down: "5s" } } as const;
  const harness = createHarness({ t: toolFrom("t", script(unsent, text("back"))) }, { limits });
  const controller = new AbortController();
  const givenUp = harness.call("t", {}, { signal: controller.signal });
  await vi.advanceTimersByTimeAsync(0);
  controller.abort();
  expect(await givenUp).toMatchObject({ kind: "cancelled" });
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

const FAILING = { limits: { retries: { attempts: 1 }, breaker: { failures: 3, cool_down: "5s" } } } as const;

async function failTimes(harness: Harness, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await harness.call("t");
    await vi.advanceTimersByTimeAsync(1);
  }
}

test("refuses calls to a server after several consecutive failures, with the time of the next attempt", async () => {
  const handler = script(sent);
  const harness = createHarness(
    { t: toolFrom("t", handler), other: toolFrom("other", () => text("fine"), { sourceId: "other" }) },
    FAILING,
  );
  await failTimes(harness, 3);
  const outcome = await harness.call("t");
  expect(outcome).toMatchObject({
    kind: "unavailable",
    retryable: true,
    details: { breaker: "open", failures: 3 },
    message: expect.stringMatching(/next attempt is in 5 s\. The last failure: died$/),
  });
  expect(handler.calls).toBe(3);
  expect(await harness.call("other")).toMatchObject({ ok: true });
});

test("after the cool-down, one trial call is sent; if it succeeds, other calls follow", async () => {
  const handler = script(sent, sent, sent, text("back"));
  const harness = createHarness({ t: toolFrom("t", handler) }, FAILING);
  await failTimes(harness, 3);
  await vi.advanceTimersByTimeAsync(5001);
  const [first, second] = await Promise.all([harness.call("t"), harness.call("t")]);
  expect([first.ok, second.ok, handler.calls]).toEqual([true, false, 4]);
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test("after the cool-down, refuses calls again if the trial call fails", async () => {
  const handler = script(sent);
  const harness = createHarness({ t: toolFrom("t", handler) }, FAILING);
  await failTimes(harness, 3);
  await vi.advanceTimersByTimeAsync(5001);
  await failTimes(harness, 2);
  expect(handler.calls).toBe(4);
});

test("after the cool-down, the next call is the trial call if the first one is cancelled", async () => {
  let hangs = false;
  const harness = createHarness({ t: toolFrom("t", () => (hangs ? never() : sent)) }, FAILING);
  await failTimes(harness, 3);
  await vi.advanceTimersByTimeAsync(5001);
  hangs = true;
  const controller = new AbortController();
  const probe = harness.call("t", {}, { signal: controller.signal });
  controller.abort();
  await probe;
  hangs = false;
  expect(await harness.call("t")).toEqual(sent);
});

test("a failure of the tool itself never opens the circuit breaker", async () => {
  const harness = createHarness({ t: toolFrom("t", script(ok({ content: [], isError: true }))) }, FAILING);
  await failTimes(harness, 20);
  expect(await harness.call("t")).toMatchObject({ kind: "tool_error" });
});

test("a success resets the number of failures", async () => {
  const harness = createHarness({ t: toolFrom("t", script(sent, sent, text("x"), sent, sent, text("y"))) }, FAILING);
  await failTimes(harness, 5);
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test("serves the next call after a child process exited with twenty calls", async () => {
  let isDead = false;
  const deaths: ((outcome: Outcome) => void)[] = [];
  const harness = createHarness(
    { t: toolFrom("t", () => (isDead ? text("restarted") : new Promise((resolve) => void deaths.push(resolve)))) },
    FAILING,
  );
  const calls = Array.from({ length: 20 }, () => harness.call("t"));
  await vi.advanceTimersByTimeAsync(10);
  isDead = true;
  for (const die of deaths) die(sent);
  expect((await Promise.all(calls)).every((outcome) => !outcome.ok && outcome.kind === "unavailable")).toBe(true);
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test("counts timeouts, but not those of a caller's short deadline", async () => {
  const harness = createHarness({ t: toolFrom("t", never, { limits: { timeoutMs: 100 } }) }, FAILING);
  for (let count = 0; count < 5; count += 1) {
    const deadline = new Deadline({ idleMs: 10, totalMs: 10 });
    const outcome = harness.call("t", {}, { deadline });
    await vi.advanceTimersByTimeAsync(20);
    expect(await outcome).toMatchObject({ kind: "timeout" });
  }
  for (let count = 0; count < 3; count += 1) {
    const outcome = harness.call("t");
    await vi.advanceTimersByTimeAsync(110);
    expect(await outcome).toMatchObject({ kind: "timeout" });
  }
  expect(await harness.call("t")).toMatchObject({ kind: "unavailable", details: { breaker: "open" } });
});

test.each(["modules", "scripts", "folders", "builtin"] as const)(
  "circuits of %s are independent: a failing one does not affect others",
  async (kind) => {
    const harness = createHarness(
      {
        t: toolFrom("t", script(fail("timeout", "slow")), { kind }),
        other: toolFrom("other", () => text("fine"), { kind }),
      },
      FAILING,
    );
    await failTimes(harness, 10);
    expect(await harness.call("other")).toMatchObject({ ok: true });
    expect(await harness.call("t")).toMatchObject({ kind: "timeout" });
  },
);

test("a recreated source starts with a closed circuit", async () => {
  const targets = { t: toolFrom("t", script(sent)) };
  const harness = createHarness(targets, FAILING);
  await failTimes(harness, 3);
  expect(await harness.call("t")).toMatchObject({ kind: "unavailable", details: { breaker: "open" } });
  targets.t = toolFrom("t", script(text("back")));
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test.each(Object.entries<KindRow>(KINDS) as [FailKind, KindRow][])(
  "the outcome code %s affects the circuit according to its `breaker` column",
  async (kind, { breaker }) => {
    const down = fail("unavailable", "down", { retryable: false });
    const harness = createHarness(
      { t: toolFrom("t", script(down, fail(kind, "It failed.", { retryable: false }), down, text("up"))) },
      { limits: { breaker: { failures: 2, cool_down: "1m" }, retries: { attempts: 1 } } },
    );
    const blocked: boolean[] = [];
    for (let call = 0; call < 4; call += 1) {
      const outcome = await run(harness);
      blocked.push(!outcome.ok && outcome.details?.["breaker"] === "open");
    }
    const opensAfter = { failure: 2, none: 3, success: Infinity }[breaker];
    expect(blocked).toEqual([0, 1, 2, 3].map((call) => call >= opensAfter));
  },
);
