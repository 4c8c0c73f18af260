import { expect, test } from "vitest";
import { fail, ok, type Outcome } from "../calls/outcome.ts";
import { whileLimited } from "./retry-while-limited.ts";

const busy = fail("limited", "Try again in 49 ms.", { retryAfterMs: 49 });
const never = new AbortController().signal;

/** Returns an attempt with each of these outcomes in turn, and with success afterwards. */
function answering(...answers: readonly Outcome[]): { readonly attempt: () => Promise<Outcome>; asked: number } {
  const self = { attempt: async (): Promise<Outcome> => answers[self.asked++] ?? ok({}), asked: 0 };
  return self;
}

test("if a request is limited for 49 ms, repeats it after that time, until it succeeds", async () => {
  const tool = answering(busy, busy);
  const begunAt = performance.now();
  expect(await whileLimited(tool.attempt, { cancellation: never, remainingMs: () => 60_000 })).toEqual(ok({}));
  expect(tool.asked).toBe(3);
  expect(performance.now() - begunAt).toBeGreaterThan(90);
});

test("returns immediately if the limit lasts longer than the remaining time, or has no end", async () => {
  for (const [answer, leftMs] of [
    [busy, 49],
    [fail("limited", "No more.", { retryable: false }), 60_000],
    [fail("limited", "Try again in an hour.", { retryAfterMs: 3_600_000 }), 86_400_000],
    [fail("unavailable", "Down.", { retryAfterMs: 1 }), 60_000],
  ] as const) {
    const tool = answering(answer);
    expect(await whileLimited(tool.attempt, { cancellation: never, remainingMs: () => leftMs })).toBe(answer);
    expect(tool.asked).toBe(1);
  }
});

test("a cancelled caller ends the wait", async () => {
  const caller = new AbortController();
  const waiting = whileLimited(answering(fail("limited", "Later.", { retryAfterMs: 50_000 })).attempt, {
    cancellation: caller.signal,
    remainingMs: () => 60_000,
  });
  caller.abort();
  await expect(waiting).rejects.toMatchObject({ failure: { kind: "cancelled" } });
});
