import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { processActivity } from "../../core/process-activity.ts";
import type { ExportResult } from "./otlp-sender.ts";

/** Maximum number of items in one request. */
const BATCH_ITEMS = 1024;
/** Size from which a batch is sent, in bytes. Collectors refuse requests above 20 MiB. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Maximum size of the waiting batches together, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Milliseconds for which items are collected, as in the SDKs of OpenTelemetry (`OTEL_BSP_SCHEDULE_DELAY`). */
const GATHER_MS = 5000;
/** Waits between attempts to send one batch, in milliseconds. After the last attempt, the batch is lost. */
const RETRY_MS: readonly number[] = [1000, 2000, 4000, 8000];
/** Maximum wait that a collector may demand with `Retry-After`. */
const MAX_RETRY_AFTER_MS = 30_000;
/** Maximum time of the last flush, when the hub closes. */
const CLOSE_MS = 2000;
/** Milliseconds between two log lines about lost items. */
const LOSS_LOG_MS = 60_000;

/** Items that are collected for the next request. */
export interface BatchSource {
  readonly count: number;
  /** Number of encoded bytes. */
  readonly size: number;
  /** Returns the request and begins the next one. */
  take(): Uint8Array;
}

interface Batch {
  readonly count: number;
  readonly bytes: Uint8Array;
}

export interface SignalQueueParts {
  /** Name of the signal for the log: `traces`, `logs`. */
  readonly signal: string;
  readonly maxItems: number;
  readonly logger: Logger;
  readonly source: BatchSource;
  /** Sends a request. Rejects if the collector cannot be reached. */
  readonly post: (request: Uint8Array, abort: AbortSignal) => Promise<ExportResult>;
}

/**
 * Bounded queue of one signal. Adding an item never waits and never throws. While a collector is down, slow or full,
 * new items beyond the limit are dropped, counted, and reported by one log line a minute.
 */
export class SignalQueue {
  readonly #parts: SignalQueueParts;
  readonly #abort = new AbortController();
  /** Full batches, the oldest first. */
  readonly #batches: Batch[] = [];
  #batchedItems = 0;
  #batchedBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #skipWait: (() => void) | undefined;
  #loggedAt = -Infinity;
  /** Number of items that were lost since the start. */
  lost = 0;

  constructor(parts: SignalQueueParts) {
    this.#parts = parts;
  }

  /** Returns true if the caller may add an item to the source. Otherwise the item is lost. */
  hasRoom(): boolean {
    if (this.#isClosed) return false;
    const { source, maxItems } = this.#parts;
    if (this.#batchedItems + source.count < maxItems && this.#batchedBytes + source.size < MAX_BYTES) return true;
    this.#lose(1, "the queue is full");
    return false;
  }

  /** Must be called after an item was added to the source. */
  added(): void {
    const { source } = this.#parts;
    if (source.count >= BATCH_ITEMS || source.size >= BATCH_BYTES) {
      this.#completeBatch();
      this.send();
    } else if (!this.#sending) this.#sendLater();
  }

  /** Sends the queued items without waiting for more items. */
  send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = undefined;
      if (this.#parts.source.count > 0 && !this.#isClosed) this.#sendLater();
    });
  }

  /** Sends the queued items, for a limited time. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#skipWait?.();
    this.send();
    const limit = setTimeout(() => this.#abort.abort(new Error("The hub is closing.")), CLOSE_MS);
    await this.#sending;
    clearTimeout(limit);
    const left = this.#batchedItems + this.#parts.source.count;
    if (left === 0) return;
    this.#lose(left, "the hub closed");
    this.#batches.length = 0;
    this.#batchedItems = 0;
    this.#parts.source.take();
  }

  #completeBatch(): void {
    const { source } = this.#parts;
    const { count } = source;
    const bytes = source.take();
    this.#batches.push({ count, bytes });
    this.#batchedItems += count;
    this.#batchedBytes += bytes.length;
  }

  #next(): Batch | undefined {
    if (this.#batches.length === 0 && this.#parts.source.count > 0) this.#completeBatch();
    const batch = this.#batches.shift();
    if (!batch) return undefined;
    this.#batchedItems -= batch.count;
    this.#batchedBytes -= batch.bytes.length;
    return batch;
  }

  #sendLater(): void {
    this.#timer ??= setTimeout(() => this.send(), GATHER_MS).unref();
  }

  async #drain(): Promise<void> {
    // The first item may wait for others, but a full queue is sent without pause.
    for (let batch = this.#next(); batch; batch = this.#abort.signal.aborted ? undefined : this.#next())
      await this.#deliver(batch);
  }

  async #deliver({ count, bytes }: Batch): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#attempt(bytes);
      if (answer.isAccepted) {
        if (answer.rejected > 0) this.#lose(answer.rejected, answer.reason);
        return;
      }
      const waitMs = RETRY_MS[attempt];
      if (!answer.mayRetry || waitMs === undefined || this.#isClosed) return this.#lose(count, answer.reason);
      await this.#wait(Math.min(Math.max(waitMs, answer.retryAfterMs), MAX_RETRY_AFTER_MS));
    }
  }

  async #attempt(bytes: Uint8Array): Promise<ExportResult> {
    try {
      return await this.#parts.post(bytes, this.#abort.signal);
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
