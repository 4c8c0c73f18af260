import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { processActivity } from "../../core/process-activity.ts";
import type { ExportResult } from "./otlp-sender.ts";

/** Maximum number of items in one request. */
const BATCH = 512;
/** Milliseconds for which items are collected. */
const GATHER_MS = 1000;
/** Waits between attempts to send one batch, in milliseconds. After the last attempt, the batch is lost. */
const RETRY_MS: readonly number[] = [1000, 2000, 4000, 8000];
/** Maximum wait that a collector may demand with `Retry-After`. */
const MAX_RETRY_AFTER_MS = 30_000;
/** Maximum time of the last flush, when the hub closes. */
const CLOSE_MS = 2000;
/** Milliseconds between two log lines about lost items. */
const LOSS_LOG_MS = 60_000;

export interface SignalQueueParts<T> {
  /** Name of the signal for the log: `traces`, `logs`. */
  readonly signal: string;
  readonly maxItems: number;
  readonly logger: Logger;
  /** Sends a batch. Rejects if the collector cannot be reached. */
  readonly post: (items: readonly T[], abort: AbortSignal) => Promise<ExportResult>;
}

/**
 * Bounded queue of one signal. Adding an item never waits and never throws. While a collector is down, slow or full,
 * new items beyond the limit are dropped, counted, and reported by one log line a minute.
 */
export class SignalQueue<T> {
  readonly #parts: SignalQueueParts<T>;
  readonly #abort = new AbortController();
  #items: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #skipWait: (() => void) | undefined;
  #loggedAt = -Infinity;
  /** Number of items that were lost since the start. */
  lost = 0;

  constructor(parts: SignalQueueParts<T>) {
    this.#parts = parts;
  }

  add(item: T): void {
    if (this.#isClosed) return;
    if (this.#items.length >= this.#parts.maxItems) return this.#lose(1, "the queue is full");
    this.#items.push(item);
    if (this.#sending) return;
    if (this.#items.length >= BATCH) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), GATHER_MS).unref();
  }

  /** Sends what is queued, for a limited time. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#skipWait?.();
    this.#send();
    const limit = setTimeout(() => this.#abort.abort(new Error("The hub is closing.")), CLOSE_MS);
    await this.#sending;
    clearTimeout(limit);
    if (this.#items.length > 0) this.#lose(this.#items.length, "the hub closed");
    this.#items = [];
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = undefined;
    });
  }

  async #drain(): Promise<void> {
    // The first item may wait for others, but a full queue is sent without pause.
    do {
      const batch = this.#items.splice(0, BATCH);
      if (batch.length > 0) await this.#deliver(batch);
    } while (this.#items.length > 0 && !this.#abort.signal.aborted);
  }

  async #deliver(batch: readonly T[]): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#attempt(batch);
      if (answer.isAccepted) {
        if (answer.rejected > 0) this.#lose(answer.rejected, answer.reason);
        return;
      }
      const waitMs = RETRY_MS[attempt];
      if (!answer.mayRetry || waitMs === undefined || this.#isClosed) return this.#lose(batch.length, answer.reason);
      await this.#wait(Math.min(Math.max(waitMs, answer.retryAfterMs), MAX_RETRY_AFTER_MS));
    }
  }

  async #attempt(batch: readonly T[]): Promise<ExportResult> {
    try {
      return await this.#parts.post(batch, this.#abort.signal);
    } catch (error) {
      return { isAccepted: false, mayRetry: true, retryAfterMs: 0, rejected: 0, reason: messageOf(error) };
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs).unref();
      this.#skipWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #lose(count: number, reason: string): void {
    this.lost += count;
    processActivity.telemetryLost += count;
    if (performance.now() - this.#loggedAt < LOSS_LOG_MS) return;
    this.#loggedAt = performance.now();
    const { signal, logger } = this.#parts;
    logger.warning("Telemetry is lost, because the collector does not take it.", { signal, lost: this.lost, reason });
  }
}
