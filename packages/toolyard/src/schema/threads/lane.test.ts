import { expect, test, vi } from "vitest";
import type { CheckJob, CheckedMessage, GivenWay } from "./check-thread.ts";
import { SLICE_MS } from "./bounds.ts";
import { Lane, type LaneJob, type LaneThread } from "./lane.ts";

/** A thread whose jobs end when a test ends them, and which reports the given time. */
class ThreadStandIn implements LaneThread {
  readonly isFull = false;
  startedMs = 0;
  workedMs = 0;
  job: CheckJob | undefined;
  hasEnded = false;
  #settle: (result: CheckedMessage | GivenWay) => void = () => {};

  run(job: CheckJob): Promise<CheckedMessage | GivenWay> {
    this.job = job;
    return new Promise((resolve) => (this.#settle = resolve));
  }

  finish(): void {
    this.#leave({ type: "checked", checked: { ok: true }, tookMs: 1 });
  }

  giveWay(): void {
    this.end();
    this.#leave({ type: "given way" });
  }

  end(): void {
    this.hasEnded = true;
  }

  #leave(result: CheckedMessage | GivenWay): void {
    this.job = undefined;
    this.workedMs = 0;
    this.#settle(result);
  }
}

interface Yard {
  readonly lane: Lane;
  readonly threads: ThreadStandIn[];
  readonly done: string[];
  /** Returns the schemas of the running jobs. */
  running(): string[];
  run(key: string, source?: string): Promise<void>;
}

function yard(maxThreads = 2): Yard {
  const threads: ThreadStandIn[] = [];
  const done: string[] = [];
  const lane = new Lane(maxThreads, () => {
    const thread = new ThreadStandIn();
    threads.push(thread);
    return thread;
  });
  return {
    lane,
    threads,
    done,
    running: () => threads.flatMap(({ job }) => job?.key ?? []),
    run: async (key, source = "stranger") => {
      const job: LaneJob = {
        source,
        key,
        text: "{}",
        fillsDefaults: false,
        value: {},
        items: 1,
        isWanted: () => true,
        onVerdict: () => {},
      };
      await lane.run(job);
      done.push(key);
    },
  };
}

/** Duration of a job that exceeds the slice of every first attempt. */
const LONG_MS = 10_000;

test("a job gives way to waiting jobs of its source, restarts after them, and finishes", async () => {
  const { run, running, threads, done } = yard();
  const all = [run("long")];
  threads[0]!.workedMs = LONG_MS;
  all.push(run("one"), run("two"));
  await vi.waitFor(() => expect(running()).toEqual(["one"]));
  expect(threads[0]!.hasEnded).toBe(true);
  threads.at(-1)!.finish();
  await vi.waitFor(() => expect(running()).toEqual(["two"]));
  threads.at(-1)!.finish();
  await vi.waitFor(() => expect(running()).toEqual(["long"]));
  threads.at(-1)!.finish();
  await Promise.all(all);
  expect(done).toEqual(["one", "two", "long"]);
});

test("a job continues if others have waited only briefly, or none waits", async () => {
  const { run, running, threads } = yard();
  const all = [run("long")];
  threads[0]!.startedMs = LONG_MS;
  threads[0]!.workedMs = LONG_MS;
  all.push(run("one"));
  await Promise.resolve();
  expect([running(), threads[0]!.hasEnded]).toEqual([["long"], false]);
  threads[0]!.finish();
  await vi.waitFor(() => expect(running()).toEqual(["one"]));
  threads[0]!.finish();
  await Promise.all(all);
});

test("a job never gives way to one with the same schema", async () => {
  const { run, running, threads } = yard();
  const all = [run("same")];
  threads[0]!.workedMs = LONG_MS;
  all.push(run("same"));
  await Promise.resolve();
  expect([running(), threads[0]!.hasEnded]).toEqual([["same"], false]);
  threads[0]!.finish();
  await vi.waitFor(() => expect(running()).toEqual(["same"]));
  threads[0]!.finish();
  await Promise.all(all);
});

test("if all threads are busy, a long job gives way to a job of another source", async () => {
  const { run, running, threads } = yard();
  const all = [run("a", "one"), run("b", "two")];
  threads[1]!.workedMs = LONG_MS;
  all.push(run("c", "three"));
  await vi.waitFor(() => expect(running()).toEqual(["a", "c"]));
  threads[0]!.finish();
  threads[2]!.finish();
  await vi.waitFor(() => expect(running()).toEqual(["b"]));
  for (const thread of threads) if (thread.job) thread.finish();
  await Promise.all(all);
});

test("a job that was restarted runs longer before it gives way to a job with as many starts", async () => {
  const { run, running, threads, done } = yard();
  const all = [run("long")];
  threads[0]!.workedMs = LONG_MS;
  all.push(run("other"));
  await vi.waitFor(() => expect(running()).toEqual(["other"]));
  threads[1]!.workedMs = LONG_MS;
  all.push(run("new"));
  await vi.waitFor(() => expect(running()).toEqual(["new"]));
  threads[2]!.finish();
  // `long` and `other` were each started once. The next slice of `long` is longer than its first one.
  await vi.waitFor(() => expect(running()).toEqual(["long"]));
  const thread = threads.find(({ job }) => job?.key === "long")!;
  thread.workedMs = SLICE_MS * 2;
  all.push(run("long"));
  expect([running(), thread.hasEnded]).toEqual([["long"], false]);
  for (; done.length < all.length; await new Promise<void>((resolve) => void setImmediate(resolve)))
    for (const one of threads) if (one.job) one.finish();
  await Promise.all(all);
  expect(done.toSorted()).toEqual(["long", "long", "new", "other"]);
});
