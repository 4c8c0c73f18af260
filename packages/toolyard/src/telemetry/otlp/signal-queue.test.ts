import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LogBook } from "../../../../../test/support/log-book.ts";
import type { ExportResult } from "./otlp-sender.ts";
import { SignalQueue, type BatchSource } from "./signal-queue.ts";

const ACCEPTED: ExportResult = { isAccepted: true, mayRetry: false, retryAfterMs: 0, rejected: 0, reason: "" };
const BUSY: ExportResult = {
  ...ACCEPTED,
  isAccepted: false,
  mayRetry: true,
  reason: "the collector answered HTTP 503",
};
const REFUSED: ExportResult = { ...BUSY, mayRetry: false, reason: "the collector answered HTTP 400" };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Items of one byte each. */
class ByteSource implements BatchSource {
  #items: number[] = [];

  get count(): number {
    return this.#items.length;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: number): void {
    this.#items.push(item);
  }

  take(): Uint8Array {
    return Uint8Array.from(this.#items.splice(0));
  }
}

function queueWith(post: (items: readonly number[], abort: AbortSignal) => Promise<ExportResult>, maxItems = 10) {
  const log = new LogBook();
  const source = new ByteSource();
  const send = (request: Uint8Array, abort: AbortSignal) => post([...request], abort);
  const queue = new SignalQueue({ signal: "traces", maxItems, logger: log, source, post: send });
  const fill = (count: number): void => {
    for (let item = 0; item < count; item += 1) {
      if (!queue.hasRoom()) continue;
      source.add(item);
      queue.added();
    }
  };
  return { queue, log, fill };
}

test("collects items for five seconds and sends them together", async () => {
  const batches: number[][] = [];
  const { queue, fill } = queueWith(async (items) => (batches.push([...items]), ACCEPTED));
  fill(3);
  await vi.advanceTimersByTimeAsync(4999);
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(batches).toEqual([[0, 1, 2]]);
  expect(queue.lost).toBe(0);
});

test("sends the items immediately on request, and only once", async () => {
  const batches: number[][] = [];
  const { queue, fill } = queueWith(async (items) => (batches.push([...items]), ACCEPTED));
  fill(2);
  queue.send();
  await vi.advanceTimersByTimeAsync(0);
  expect(batches).toEqual([[0, 1]]);
  queue.send();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(batches).toHaveLength(1);
});

test("drops, counts and reports items beyond its limit while a collector never answers", async () => {
  const { queue, log, fill } = queueWith(() => new Promise(() => {}), 10);
  fill(5);
  await vi.advanceTimersByTimeAsync(5000);
  fill(1000);
  expect(queue.lost).toBe(990);
  expect(log.lines).toMatchObject([{ level: "warning", facts: { signal: "traces", lost: 1 } }]);
  await vi.advanceTimersByTimeAsync(60_000);
  fill(1);
  expect(log.lines).toHaveLength(2);
});

test.each([
  ["busy", BUSY],
  ["unreachable", new Error("connection refused")],
])("repeats a batch while the collector is %s, and loses none if it recovers", async (_name, failure) => {
  let attempts = 0;
  const { queue, log, fill } = queueWith(async () => {
    attempts += 1;
    if (attempts > 2) return ACCEPTED;
    if (failure instanceof Error) throw failure;
    return failure;
  });
  fill(4);
  await vi.advanceTimersByTimeAsync(14_000);
  expect([attempts, queue.lost, log.lines]).toEqual([3, 0, []]);
});

test("waits as long as the collector demands, up to a limit", async () => {
  let attempts = 0;
  const { fill } = queueWith(async () => ((attempts += 1), { ...BUSY, retryAfterMs: 3_600_000 }));
  fill(1);
  await vi.advanceTimersByTimeAsync(5000 + 29_999);
  expect(attempts).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(attempts).toBe(2);
});

test("drops a batch after its last attempt", async () => {
  let attempts = 0;
  const { queue, log, fill } = queueWith(async () => ((attempts += 1), BUSY));
  fill(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([attempts, queue.lost]).toEqual([5, 2]);
  expect(log.lines).toMatchObject([{ facts: { reason: "the collector answered HTTP 503" } }]);
});

test("does not repeat a batch that the collector refuses, and counts refused items of an accepted batch", async () => {
  const answers = [REFUSED, { ...ACCEPTED, rejected: 1, reason: "too old" }];
  const { queue, fill } = queueWith(async () => answers.shift()!);
  fill(3);
  await vi.advanceTimersByTimeAsync(5000);
  expect(queue.lost).toBe(3);
  fill(3);
  await vi.advanceTimersByTimeAsync(5000);
  expect(queue.lost).toBe(4);
});

test("sends the remaining items when it closes, and accepts no items afterwards", async () => {
  const sent: number[] = [];
  const { queue, fill } = queueWith(async (items) => (sent.push(...items), ACCEPTED));
  fill(2);
  await queue.close();
  fill(9);
  await queue.close();
  expect(sent).toEqual([0, 1]);
});

test("closes in a limited time if the collector never answers", async () => {
  const { queue, fill } = queueWith(
    (_items, abort) =>
      new Promise((_resolve, reject) => abort.addEventListener("abort", () => reject(abort.reason as Error))),
  );
  fill(1);
  const closing = queue.close();
  await vi.advanceTimersByTimeAsync(2000);
  await closing;
  expect(queue.lost).toBe(1);
});

test("sends a full batch immediately, and the next items together after it", async () => {
  const sizes: number[] = [];
  const { queue, fill } = queueWith(async (items) => (sizes.push(items.length), ACCEPTED), 4096);
  fill(2500);
  await vi.advanceTimersByTimeAsync(0);
  expect(sizes).toEqual([1024, 1024, 452]);
  fill(3);
  await vi.advanceTimersByTimeAsync(5000);
  expect([sizes.at(-1), queue.lost]).toEqual([3, 0]);
});
