import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import type { LogLine } from "../../core/ports/log-feed.ts";
import type { Logger, LogLevel } from "../../core/ports/ports.ts";
import type { LateLine, LineSink } from "../line-sink.ts";
import { lineText } from "../line-sink.ts";
import { writeAttribute, writeValue } from "./attributes.ts";
import type { OtlpOptions } from "./options.ts";
import type { SignalName } from "./variables.ts";
import { OtlpBatch } from "./otlp-batch.ts";
import { OtlpSender } from "./otlp-sender.ts";
import type { RecordedSpan } from "./otlp-span.ts";
import { SignalQueue, type BatchSource } from "./signal-queue.ts";
import { SpanWriter, type SpanWriterParts } from "./span-writer.ts";

export interface ExporterParts {
  readonly logger: Logger;
  readonly environment: EnvironmentVariables;
  readonly spans: SpanWriterParts;
  /** Adds the current metrics to a batch. */
  readonly metrics: (batch: OtlpBatch) => void;
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 5, info: 9, warning: 13, error: 17 };
/** Maximum number of metric requests that wait. Each has all values, so that an older one is not needed. */
const MAX_METRIC_BATCHES = 2;

interface Signal<T extends BatchSource> {
  readonly source: T;
  readonly queue: SignalQueue;
}

/** Sends the signals of a hub. Nothing here delays a call: items are encoded into a buffer that is sent later. */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #parts: ExporterParts;
  readonly #senders: OtlpSender[] = [];
  readonly #spans: Signal<OtlpBatch> | undefined;
  readonly #logs: Signal<OtlpBatch> | undefined;
  readonly #metrics: Signal<MetricSource> | undefined;
  readonly #spanWriter: SpanWriter;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: OtlpOptions, parts: ExporterParts) {
    this.#options = options;
    this.#parts = parts;
    this.#spanWriter = new SpanWriter(parts.spans);
    const { maxQueue: maxItems, resource } = options;
    this.#spans = this.#signal("traces", maxItems, new OtlpBatch(resource));
    this.#logs = this.#signal("logs", maxItems, new OtlpBatch(resource));
    this.#metrics = this.#signal("metrics", MAX_METRIC_BATCHES, new MetricSource(resource, parts.metrics));
    if (!this.#metrics) return;
    this.#timer = setInterval(() => this.#addMetrics(), options.intervalMs).unref();
  }

  addSpan(span: RecordedSpan): void {
    if (!this.#spans?.queue.hasRoom()) return;
    const { source, queue } = this.#spans;
    if (source.count === 0) this.#spanWriter.setClock();
    const at = source.begin();
    this.#spanWriter.write(source.writer, span);
    source.end(at);
    queue.added();
  }

  addLogLine({ time, level, text, source }: LogLine): void {
    this.#addRecord(text, {
      epochMs: Date.parse(time),
      level,
      attributes: source === undefined ? {} : { "toolyard.source": source },
    });
  }

  /** Returns a sink that sends audit lines as log records. */
  auditSink(): LineSink {
    return {
      write: (line: string | LateLine) =>
        this.#addRecord(lineText(line), {
          level: "info",
          attributes: { "event.name": AUDIT_EVENT },
          event: AUDIT_EVENT,
        }),
      close: async () => {},
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#addMetrics();
    await Promise.all([this.#spans, this.#logs, this.#metrics].map((signal) => signal?.queue.close()));
    await Promise.all(this.#senders.map((sender) => sender.close()));
  }

  #addRecord(body: string, { epochMs = Date.now(), level, attributes, event }: RecordFacts): void {
    if (!this.#logs?.queue.hasRoom()) return;
    const { source, queue } = this.#logs;
    const at = source.begin();
    const { writer } = source;
    writer.time(1, epochMs);
    writer.integer(2, SEVERITY[level]);
    writer.text(3, level);
    writeValue(writer, 5, body);
    for (const pair of Object.entries(attributes)) writeAttribute(writer, 6, pair);
    writer.time(11, epochMs);
    if (event !== undefined) writer.text(12, event);
    source.end(at);
    queue.added();
  }

  #addMetrics(): void {
    if (!this.#metrics?.queue.hasRoom()) return;
    this.#metrics.source.isWaiting = true;
    // Metrics are added once per interval, so the queue sends them immediately and does not wait for further items.
    this.#metrics.queue.send();
  }

  #signal<T extends BatchSource>(signal: SignalName, maxItems: number, source: T): Signal<T> | undefined {
    const target = this.#options.targets[signal];
    if (!target) return undefined;
    const sender = new OtlpSender(target, this.#parts.environment);
    this.#senders.push(sender);
    const post = (request: Uint8Array, abort: AbortSignal) => sender.post(request, abort);
    return { source, queue: new SignalQueue({ signal, maxItems, logger: this.#parts.logger, source, post }) };
  }
}

const AUDIT_EVENT = "toolyard.audit";

interface RecordFacts {
  /** Time of the record, in milliseconds since 1970. @default now */
  readonly epochMs?: number;
  readonly level: LogLevel;
  readonly attributes: Readonly<Record<string, string>>;
  readonly event?: string;
}

/** Metrics as one item. They are read when the request is sent, so that a request always has current values. */
class MetricSource implements BatchSource {
  readonly #batch: OtlpBatch;
  readonly #add: (batch: OtlpBatch) => void;
  isWaiting = false;

  constructor(resource: Readonly<Record<string, string>>, add: (batch: OtlpBatch) => void) {
    this.#batch = new OtlpBatch(resource);
    this.#add = add;
  }

  get count(): number {
    return this.isWaiting ? 1 : 0;
  }

  get size(): number {
    return this.#batch.size;
  }

  take(): Uint8Array {
    this.isWaiting = false;
    this.#add(this.#batch);
    return this.#batch.take();
  }
}
