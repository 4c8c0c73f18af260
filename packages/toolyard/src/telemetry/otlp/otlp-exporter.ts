import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import { messageOf } from "../../core/errors.ts";
import type { LogLine } from "../../core/ports/log-feed.ts";
import type { Logger, LogLevel } from "../../core/ports/ports.ts";
import type { LateLine, LineSink } from "../line-sink.ts";
import { lineText } from "../line-sink.ts";
import type { OtlpOptions } from "./options.ts";
import type { SignalName } from "./variables.ts";
import { OtlpEncoder, type OtlpLogRecord, type OtlpTransformer } from "./otlp-encoder.ts";
import { OtlpSender, type ExportResult } from "./otlp-sender.ts";
import type { RecordedSpan } from "./otlp-span.ts";
import { SignalQueue } from "./signal-queue.ts";

export interface ExporterParts {
  readonly logger: Logger;
  readonly environment: EnvironmentVariables;
  /** Loads the official encoder. Rejects with a `FailError` that names the command to install it. */
  readonly load: () => Promise<OtlpTransformer>;
  /** Returns the current metrics in the form that the encoder reads. */
  readonly metrics: () => readonly unknown[];
}

type Item = RecordedSpan | OtlpLogRecord;
const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 5, info: 9, warning: 13, error: 17 };
/** Maximum number of metric batches that wait. Each batch has all values, so that an older one is not needed. */
const MAX_METRIC_BATCHES = 2;

/** Sends the signals of a hub. Nothing here delays a call: items are queued, and encoded later. */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #parts: ExporterParts;
  readonly #encoder: Promise<OtlpEncoder>;
  readonly #senders: OtlpSender[] = [];
  readonly #spans: SignalQueue<RecordedSpan> | undefined;
  readonly #logs: SignalQueue<OtlpLogRecord> | undefined;
  readonly #metrics: SignalQueue<readonly unknown[]> | undefined;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: OtlpOptions, parts: ExporterParts) {
    this.#options = options;
    this.#parts = parts;
    this.#encoder = parts.load().then((transformer) => new OtlpEncoder(transformer, options.resource));
    this.#encoder.catch((error: unknown) => parts.logger.error("No telemetry is sent.", { reason: messageOf(error) }));
    const { maxQueue: maxItems } = options;
    this.#spans = this.#queue("traces", maxItems, (encoder, spans) => encoder.spans(spans));
    this.#logs = this.#queue("logs", maxItems, (encoder, records) => encoder.logs(records));
    this.#metrics = this.#queue("metrics", MAX_METRIC_BATCHES, (encoder, batches) => encoder.metrics(batches.at(-1)!));
    if (!this.#metrics) return;
    this.#timer = setInterval(() => this.#metrics?.add(parts.metrics()), options.intervalMs).unref();
  }

  addSpan(span: RecordedSpan): void {
    this.#spans?.add(span);
  }

  addLogLine({ time, level, text, source }: LogLine): void {
    this.#logs?.add(
      record(text, { time, level, attributes: source === undefined ? {} : { "toolyard.source": source } }),
    );
  }

  /** Returns a sink that sends audit lines as log records. */
  auditSink(): LineSink {
    return {
      write: (line: string | LateLine) =>
        this.#logs?.add(record(lineText(line), { level: "info", attributes: { "event.name": "toolyard.audit" } })),
      close: async () => {},
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#metrics?.add(this.#parts.metrics());
    await Promise.all([this.#spans?.close(), this.#logs?.close(), this.#metrics?.close()]);
    await Promise.all(this.#senders.map((sender) => sender.close()));
  }

  #queue<T extends Item | readonly unknown[]>(
    signal: SignalName,
    maxItems: number,
    encode: (encoder: OtlpEncoder, items: readonly T[]) => Uint8Array,
  ): SignalQueue<T> | undefined {
    const target = this.#options.targets[signal];
    if (!target) return undefined;
    const sender = new OtlpSender(target, this.#parts.environment);
    this.#senders.push(sender);
    const post = async (items: readonly T[], abort: AbortSignal): Promise<ExportResult> => {
      const encoder = await this.#encoder.catch(() => undefined);
      // The log has the reason, and the encoder cannot be installed while the hub runs.
      if (!encoder) return { ...UNSENT, reason: "the encoder could not be loaded" };
      return sender.post(encode(encoder, items), (answer) => encoder.rejected(signal, answer), abort);
    };
    return new SignalQueue({ signal, maxItems, logger: this.#parts.logger, post });
  }
}

const UNSENT = { isAccepted: false, mayRetry: false, retryAfterMs: 0, rejected: 0 } as const;

interface RecordFacts {
  readonly time?: string;
  readonly level: LogLevel;
  readonly attributes: Readonly<Record<string, string>>;
}

function record(body: string, { time, level, attributes }: RecordFacts): OtlpLogRecord {
  const ms = time === undefined ? Date.now() : Date.parse(time);
  const hrTime: [number, number] = [Math.floor(ms / 1000), (ms % 1000) * 1e6];
  const severity = { severityNumber: SEVERITY[level], severityText: level };
  return { hrTime, hrTimeObserved: hrTime, ...severity, body, attributes, droppedAttributesCount: 0 };
}
