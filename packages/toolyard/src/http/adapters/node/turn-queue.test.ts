import { setImmediate as turnEnd } from "node:timers/promises";
import { expect, test } from "vitest";
import { TurnQueue } from "./turn-queue.ts";

/** Clock that the runs of a test advance. */
class Clock {
  ms = 0;
  readonly now = (): number => this.ms;
}

/** Returns a run that takes `ms` milliseconds and records its name. */
function taking(clock: Clock, { ms, name, runs }: { ms: number; name: number; runs: number[] }): () => void {
  return () => {
    runs.push(name);
    clock.ms += ms;
  };
}

test("executes as many runs per turn as fit into 5 ms, in order, and later additions after them", async () => {
  const clock = new Clock();
  const queue = new TurnQueue(clock.now);
  const runs: number[] = [];
  for (let name = 0; name < 8; name += 1) queue.add(taking(clock, { ms: 1, name, runs }));
  expect(runs).toEqual([]);
  await turnEnd();
  expect(runs).toEqual([0, 1, 2, 3, 4]);
  queue.add(taking(clock, { ms: 1, name: 8, runs }));
  await turnEnd();
  expect(runs).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("executes a run that takes longer than a turn, and the next one in the following turn", async () => {
  const clock = new Clock();
  const queue = new TurnQueue(clock.now);
  const runs: number[] = [];
  for (let name = 0; name < 3; name += 1) queue.add(taking(clock, { ms: 70, name, runs }));
  for (let turn = 1; turn <= 3; turn += 1) {
    await turnEnd();
    expect(runs.length).toBe(turn);
  }
});

test("executes a run that adds itself once per turn", async () => {
  const queue = new TurnQueue(() => 0);
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

test("executes runs synchronously while the turn has time, and the rest in later turns", async () => {
  const clock = new Clock();
  const queue = new TurnQueue(clock.now);
  const runs: number[] = [];
  for (let name = 0; name < 5; name += 1) queue.runSoon(taking(clock, { ms: 2, name, runs }));
  expect(runs).toEqual([0, 1, 2]);
  await turnEnd();
  expect(runs).toEqual([0, 1, 2, 3, 4]);
  await turnEnd();
  queue.runSoon(taking(clock, { ms: 2, name: 5, runs }));
  expect(runs).toEqual([0, 1, 2, 3, 4, 5]);
});

test("executes a run that is added with `runSoon` after the waiting runs", async () => {
  const queue = new TurnQueue(() => 0);
  const runs: string[] = [];
  queue.add(() => runs.push("first"));
  queue.runSoon(() => runs.push("second"));
  expect(runs).toEqual([]);
  await turnEnd();
  expect(runs).toEqual(["first", "second"]);
});

test("a run that throws does not stop the others", async () => {
  const queue = new TurnQueue(() => 0);
  const runs: string[] = [];
  const thrown = new Promise((resolve) => process.setUncaughtExceptionCaptureCallback(resolve));
  queue.add(() => {
    throw new Error("broken");
  });
  queue.add(() => runs.push("second"));
  expect(await thrown).toMatchObject({ message: "broken" });
  process.setUncaughtExceptionCaptureCallback(null);
  expect(runs).toEqual(["second"]);
});
