import { EVERYTHING } from "../core/ports/rights.ts";
import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import { createHarness, text, toolFrom, type Handler } from "../../../../test/support/pipeline.ts";

/** Returns a handler that holds its calls until they are released, and counts concurrent calls. */
function held(): {
  readonly handler: Handler;
  running: number;
  most: number;
  order: unknown[];
  letGo(): void;
  readonly waiting: number;
} {
  const open: (() => void)[] = [];
  const self = {
    running: 0,
    most: 0,
    order: [] as unknown[],
    get waiting() {
      return open.length;
    },
    letGo: () => open.shift()?.(),
    handler: (async (call) => {
      self.order.push(call.arguments["n"]);
      self.running += 1;
      self.most = Math.max(self.most, self.running);
      await new Promise<void>((resolve) => void open.push(resolve));
      self.running -= 1;
      return text("done");
    }) satisfies Handler,
  };
  return self;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function kinds(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) {
    const kind = outcome.ok ? "ok" : outcome.kind;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

test("S5: refuses too many calls per minute with the retry time", async () => {
  const harness = createHarness({ t: toolFrom("t", () => text("x")) }, { limits: { rate_per_minute: 10 } });
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => harness.call("t")));
  expect(kinds(outcomes)).toEqual({ ok: 10, limited: 2 });
  expect(outcomes.at(-1)).toMatchObject({
    kind: "limited",
    retryable: true,
    retryAfterMs: expect.closeTo(6000, -3),
    message: expect.stringMatching(/^Too many calls in the last minute\. Try again in [\d.]+ s\.$/),
  });
});

test("S5: each client has its own share", async () => {
  const harness = createHarness({ t: toolFrom("t", () => text("x")) }, { limits: { rate_per_minute: 1 } });
  const from = (id: string, connection?: string): Promise<Outcome> =>
    harness.call(
      "t",
      {},
      {
        principal: { id, rights: EVERYTHING },
        client: { capabilities: {}, ...(connection === undefined ? {} : { connection }) },
      },
    );
  expect(kinds([await from("a"), await from("b"), await from("a", "s1"), await from("a", "s2")])).toEqual({ ok: 4 });
  expect(kinds([await from("a"), await from("a", "s1")])).toEqual({ limited: 2 });
});

test("S5: refuses too many concurrent calls until one has ended", async () => {
  const gate = held();
  const harness = createHarness({ t: toolFrom("t", gate.handler) }, { limits: { in_flight: 2 } });
  const first = harness.call("t");
  const second = harness.call("t");
  await turn();
  expect(await harness.call("t")).toMatchObject({ kind: "limited", details: { reason: "in-flight" } });
  gate.letGo();
  await first;
  const third = harness.call("t");
  await turn();
  gate.letGo();
  gate.letGo();
  expect(kinds(await Promise.all([second, third]))).toEqual({ ok: 2 });
});

test("S5: local callers without a token have no limit by default; others have 600 calls a minute", async () => {
  const harness = createHarness({ t: toolFrom("t", () => text("x")) }, { limits: { in_flight: 0 } });
  const many = (principal: Principal): Promise<Outcome[]> =>
    Promise.all(Array.from({ length: 700 }, () => harness.call("t", {}, { principal })));
  expect(kinds(await many(LOCAL_PRINCIPAL))).toEqual({ ok: 700 });
  expect(kinds(await many({ id: "ada", rights: EVERYTHING }))).toMatchObject({ limited: expect.any(Number) as number });
  const open = await many({ ...LOCAL_PRINCIPAL, remote: true });
  expect(kinds(open)).toMatchObject({ limited: expect.any(Number) as number });
});

test("a configured rate applies to all callers, and the rate of a token to its callers", async () => {
  const harness = createHarness({ t: toolFrom("t", () => text("x")) }, { limits: { rate_per_minute: 2 } });
  const three = (principal: Principal): Promise<Outcome[]> =>
    Promise.all(Array.from({ length: 3 }, () => harness.call("t", {}, { principal })));
  expect(kinds(await three(LOCAL_PRINCIPAL))).toEqual({ ok: 2, limited: 1 });
  expect(kinds(await three({ id: "ada", rights: EVERYTHING, ratePerMinute: 1 }))).toEqual({ ok: 1, limited: 2 });
  expect(kinds(await three({ id: "bob", rights: EVERYTHING, ratePerMinute: 0 }))).toEqual({ ok: 3 });
});

test("0 means no limit", async () => {
  const harness = createHarness(
    { t: toolFrom("t", () => text("x")) },
    { limits: { rate_per_minute: 0, in_flight: 0 } },
  );
  expect(kinds(await Promise.all(Array.from({ length: 1000 }, () => harness.call("t"))))).toEqual({ ok: 1000 });
});

test("does not count a call that another call makes", async () => {
  const harness = createHarness(
    { t: toolFrom("t", () => text("x")) },
    { limits: { rate_per_minute: 1, in_flight: 1 } },
  );
  expect(
    kinds([await harness.call("t"), await harness.call("t", {}, { parent: "outer" }), await harness.call("t")]),
  ).toEqual({ ok: 2, limited: 1 });
});

test("C16: runs at most max_concurrent calls of a tool, in the order of arrival", async () => {
  const gate = held();
  const harness = createHarness({ t: toolFrom("t", gate.handler, { limits: { maxConcurrent: 2 } }) });
  const calls = Array.from({ length: 10 }, (_, n) => harness.call("t", { n }));
  for (let done = 0; done < 10; done += 1) {
    await turn();
    gate.letGo();
  }
  expect(kinds(await Promise.all(calls))).toEqual({ ok: 10 });
  expect([gate.most, gate.order]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
});

test("C16: refuses a call immediately if the queue is full", async () => {
  const gate = held();
  const harness = createHarness(
    { t: toolFrom("t", gate.handler, { limits: { maxConcurrent: 1 } }) },
    { limits: { queue: 1 } },
  );
  const calls = [harness.call("t"), harness.call("t")];
  await turn();
  expect(await harness.call("t")).toMatchObject({ kind: "limited", retryAfterMs: 1000, details: { reason: "queue" } });
  for (let done = 0; done < 2; done += 1) {
    gate.letGo();
    await turn();
  }
  expect(kinds(await Promise.all(calls))).toEqual({ ok: 2 });
});

test("a call that leaves the queue makes room for a later call and starts nothing", async () => {
  const gate = held();
  const harness = createHarness(
    { t: toolFrom("t", gate.handler, { limits: { maxConcurrent: 1 } }) },
    { limits: { queue: 1 } },
  );
  const running = harness.call("t", { n: 1 });
  await turn();
  const controller = new AbortController();
  const gone = harness.call("t", { n: 2 }, { signal: controller.signal });
  await turn();
  controller.abort();
  expect(await gone).toMatchObject({ kind: "cancelled" });
  const last = harness.call("t", { n: 3 });
  await turn();
  gate.letGo();
  await turn();
  gate.letGo();
  expect(kinds(await Promise.all([running, last]))).toEqual({ ok: 2 });
  expect(gate.order).toEqual([1, 3]);
});

test("one busy tool does not delay another tool of the same source", async () => {
  const gate = held();
  const harness = createHarness({
    busy: toolFrom("busy", gate.handler, { limits: { maxConcurrent: 1 } }),
    free: toolFrom("free", () => text("x")),
  });
  const waiting = [harness.call("busy"), harness.call("busy")];
  await turn();
  expect(await harness.call("free")).toMatchObject({ ok: true });
  for (let done = 0; done < 2; done += 1) {
    gate.letGo();
    await turn();
  }
  await Promise.all(waiting);
});

test("a thousand concurrent calls each get one outcome and one log line", async () => {
  const harness = createHarness(
    {
      quick: toolFrom("quick", () => text("x")),
      slow: toolFrom("slow", () => new Promise((resolve) => void setImmediate(() => resolve(text("y"))))),
      narrow: toolFrom("narrow", () => new Promise((resolve) => void setImmediate(() => resolve(text("z")))), {
        limits: { maxConcurrent: 3 },
      }),
      breaks: toolFrom(
        "breaks",
        () => {
          throw new Error("bug");
        },
        { kind: "modules" },
      ),
    },
    { limits: { rate_per_minute: 0, in_flight: 0, queue: 1000 } },
  );
  const targets = ["quick", "slow", "narrow", "breaks", "nope"];
  const outcomes = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => harness.call(targets[index % targets.length]!, { index })),
  );
  expect(kinds(outcomes)).toEqual({ ok: 600, internal: 200, unknown_tool: 200 });
  expect(new Set(harness.audit.map(({ call }) => call)).size).toBe(1000);
});
