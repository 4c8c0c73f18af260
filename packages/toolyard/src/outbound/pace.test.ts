import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

/** A stopped clock; `advance` releases waiters. */
function createClock() {
  let time = 0;
  const waiting: { readonly at: number; readonly go: () => void }[] = [];
  return {
    now: () => time,
    wait: (ms: number, signal: AbortSignal | undefined) =>
      new Promise<void>((go, stop) => {
        waiting.push({ at: time + ms, go });
        signal?.addEventListener("abort", () => stop(signal.reason as Error), { once: true });
      }),
    advance: (ms: number) => {
      time += ms;
      for (const one of waiting.filter(({ at }) => at <= time)) one.go();
    },
  };
}

const OPTIONS = { service: "Somebody", intervalMs: 1000, maxWaiting: 2 };

test("C43: one request an interval goes, in the order of arrival", async () => {
  const clock = createClock();
  const pace = new Pace(OPTIONS, clock);
  const gone: number[] = [];
  const turns = [1, 2, 3].map(async (name) => {
    await pace.turn();
    gone.push(name);
  });
  await turns[0];
  expect(gone).toEqual([1]);
  clock.advance(1000);
  await turns[1];
  expect(gone).toEqual([1, 2]);
  clock.advance(1000);
  await turns[2];
  expect(gone).toEqual([1, 2, 3]);
});

test("C43: more than may wait are turned away, with the time to come again", async () => {
  const clock = createClock();
  const pace = new Pace(OPTIONS, clock);
  await pace.turn();
  const waiting = [pace.turn(), pace.turn()];
  await expect(pace.turn()).rejects.toMatchObject({ failure: { kind: "limited", retryAfterMs: 3000 } });
  clock.advance(2000);
  await Promise.all(waiting);
});

test("a caller that goes does not wait", async () => {
  const caller = new AbortController();
  const pace = new Pace(OPTIONS, createClock());
  await pace.turn();
  const turn = pace.turn(caller.signal);
  caller.abort();
  await expect(turn).rejects.toMatchObject({ failure: { kind: "cancelled" } });
});

test("a pause refuses all requests until it is over", async () => {
  const clock = createClock();
  const pace = new Pace({ ...OPTIONS, intervalMs: 0 }, clock);
  pace.pause(5000);
  await expect(pace.turn()).rejects.toMatchObject({ failure: { kind: "limited", retryAfterMs: 5000 } });
  clock.advance(5000);
  await expect(pace.turn()).resolves.toBeUndefined();
});
