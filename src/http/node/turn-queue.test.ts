import { setImmediate as turnEnd } from "node:timers/promises";
import { expect, test } from "vitest";
import { TurnQueue } from "./turn-queue.ts";

test("runs 32 in a turn, in their order, and what was added meanwhile after them", async () => {
  const queue = new TurnQueue();
  const runs: number[] = [];
  for (let at = 0; at < 70; at += 1) queue.add(() => void runs.push(at));
  expect(runs).toEqual([]);
  await turnEnd();
  expect(runs).toEqual(Array.from({ length: 32 }, (_, at) => at));
  queue.add(() => void runs.push(70));
  for (let turn = 0; turn < 3; turn += 1) await turnEnd();
  expect(runs).toEqual(Array.from({ length: 71 }, (_, at) => at));
});

test("runs one that adds itself once in a turn", async () => {
  const queue = new TurnQueue();
  let runs = 0;
  const again = (): void => {
    runs += 1;
    queue.add(again);
  };
  queue.add(again);
  for (let turn = 1; turn <= 5; turn += 1) {
    await turnEnd();
    expect(runs).toBe(turn);
  }
});
