import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

/** Creates a stopped clock; `advance` moves it and resolves the waits that are due. */
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

test("C43: sends one request per interval, in order of arrival", async () => {
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

test("C43: rejects more requests than may wait, with the time after which to retry", async () => {
  const clock = createClock();
  const pace = new Pace(OPTIONS, clock);
  await pace.turn();
  const waiting = [pace.turn(), pace.turn()];
  await expect(pace.turn()).rejects.toMatchObject({ failure: { kind: "limited", retryAfterMs: 3000 } });
  clock.advance(2000);
  await Promise.all(waiting);
});

test("removes a cancelled caller from the queue", async () => {
  const caller = new AbortController();
  const pace = new Pace(OPTIONS, createClock());
  await pace.turn();
  const turn = pace.turn(caller.signal);
  caller.abort();
  await expect(turn).rejects.toMatchObject({ failure: { kind: "cancelled" } });
});

test("rejects all requests during a pause", async () => {
  const clock = createClock();
  const pace = new Pace({ ...OPTIONS, intervalMs: 0 }, clock);
  pace.pause(5000);
  await expect(pace.turn()).rejects.toMatchObject({ failure: { kind: "limited", retryAfterMs: 5000 } });
  clock.advance(5000);
  await expect(pace.turn()).resolves.toBeUndefined();
});
