import {
  LATENCY_BOUNDS_MS,
  OTHER,
  OUTCOMES,
  type CallStatistics,
  type LiveCallRow,
} from "../../core/ports/call-statistics.ts";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import { processActivity } from "../../core/process-activity.ts";
import { writeAttribute } from "./attributes.ts";
import { METRIC_NAMES, type FactNames } from "./names.ts";
import type { OtlpBatch } from "./otlp-batch.ts";
import type { ProtoWriter } from "./proto-writer.ts";

export interface OtlpMetricsParts {
  readonly callStatistics: CallStatistics;
  readonly sources: () => readonly SourceReport[];
  readonly names: FactNames;
  readonly redact: (text: string) => string;
}

type Attributes = Readonly<Record<string, string>>;

/** Value of a series: a number, or a histogram. */
type PointValue = number | Histogram;
interface Point {
  readonly attributes: Attributes;
  readonly value: PointValue;
}

interface Metric {
  readonly type: keyof typeof FIELDS;
  readonly name: string;
  readonly unit: string;
  readonly points: readonly Point[];
}

/** Field numbers of the data of a metric, by type. */
const FIELDS = { gauge: 5, sum: 7, histogram: 9 } as const;
const CUMULATIVE = 2;
/** Maximum number of tools with a histogram of their own, and of sources. Further ones share `other`. */
const MAX_HISTOGRAMS = 200;
const MAX_SOURCES = 1000;
const BOUNDS_S = LATENCY_BOUNDS_MS.map((bound) => bound / 1000);

/**
 * Builds metrics from the counts that the hub has anyway, so that a call costs nothing more. The number of series has
 * the same limits as the metrics for Prometheus. Sources and tools with the same redacted name share one series.
 */
export class OtlpMetrics {
  readonly #parts: OtlpMetricsParts;
  readonly #startedAt = Date.now();
  readonly #ownHistograms = new Set<LiveCallRow>();

  constructor(parts: OtlpMetricsParts) {
    this.#parts = parts;
  }

  /** Adds the current values to a batch. */
  addTo(batch: OtlpBatch): void {
    const times = { startMs: this.#startedAt, endMs: Date.now() };
    for (const metric of this.#metrics()) {
      const at = batch.begin();
      writeMetric(batch.writer, metric, times);
      batch.end(at);
    }
  }

  #metrics(): readonly Metric[] {
    const rows = this.#parts.callStatistics.rows();
    const n = METRIC_NAMES;
    const { calls, queued, sessions, streams, sandboxRuns, auditLost, telemetryLost } = processActivity;
    return [
      { type: "sum", name: n.calls, unit: "{call}", points: this.#callPoints(rows) },
      { type: "histogram", name: n.duration, unit: "s", points: this.#durationPoints(rows) },
      ...this.#sourceMetrics(),
      single({ type: "gauge", name: n.active, unit: "{call}" }, calls),
      single({ type: "gauge", name: n.queued, unit: "{call}" }, queued),
      single({ type: "gauge", name: n.sessions, unit: "{session}" }, sessions),
      single({ type: "gauge", name: n.streams, unit: "{stream}" }, streams),
      single({ type: "gauge", name: n.sandboxRuns, unit: "{run}" }, sandboxRuns),
      single({ type: "sum", name: n.auditLost, unit: "{line}" }, auditLost),
      single({ type: "sum", name: n.telemetryLost, unit: "{item}" }, telemetryLost),
      single({ type: "gauge", name: n.memory, unit: "By" }, process.memoryUsage.rss()),
    ];
  }

  #callPoints(rows: readonly LiveCallRow[]): readonly Point[] {
    const counts = new SharedSeries<number>((sum, value) => sum + value);
    for (const row of rows)
      for (const [index, outcome] of OUTCOMES.entries()) {
        const count = row.outcomeCounts[index]!;
        if (count > 0) counts.add({ ...this.#labels(row, row.tool), [this.#parts.names.outcome]: outcome }, count);
      }
    return counts.points();
  }

  #durationPoints(rows: readonly LiveCallRow[]): readonly Point[] {
    const histograms = new SharedSeries<Histogram>(addHistograms);
    for (const row of rows) {
      const tool = this.#hasOwnHistogram(row) ? row.tool : OTHER;
      const { calls: count, totalMs, buckets } = row;
      histograms.add(this.#labels(row, tool), { count, sum: totalMs / 1000, buckets: Array.from(buckets) });
    }
    return histograms.points();
  }

  #hasOwnHistogram(row: LiveCallRow): boolean {
    if (row.tool === "" || this.#ownHistograms.has(row)) return true;
    if (this.#ownHistograms.size >= MAX_HISTOGRAMS) return false;
    this.#ownHistograms.add(row);
    return true;
  }

  #labels({ source, method }: LiveCallRow, tool: string): Attributes {
    const { names, redact } = this.#parts;
    return {
      [names.method]: method,
      ...(tool !== "" && { [names.tool]: redact(tool) }),
      ...(source !== "" && { [names.source]: redact(source) }),
    };
  }

  #sourceMetrics(): readonly Metric[] {
    const { redact, names } = this.#parts;
    const up = new SharedSeries<number>((one, other) => Math.min(one, other));
    const restarts = new SharedSeries<number>((one, other) => one + other);
    const tools = new SharedSeries<number>((one, other) => one + other);
    for (const { source, status, tools: count } of this.#parts.sources().slice(0, MAX_SOURCES)) {
      const labels = { [names.source]: redact(source.id), [names.sourceKind]: source.kind };
      up.add(labels, status.state === "ready" || status.state === "degraded" ? 1 : 0);
      restarts.add(labels, status.restarts ?? 0);
      tools.add(labels, count);
    }
    return [
      { type: "gauge", name: METRIC_NAMES.sourceUp, unit: "1", points: up.points() },
      { type: "sum", name: METRIC_NAMES.sourceRestarts, unit: "{restart}", points: restarts.points() },
      { type: "gauge", name: METRIC_NAMES.sourceTools, unit: "{tool}", points: tools.points() },
    ];
  }
}

function single(metric: Omit<Metric, "points">, value: number): Metric {
  return { ...metric, points: [{ attributes: {}, value }] };
}

interface Times {
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
}

function writeMetric(writer: ProtoWriter, { type, name, unit, points }: Metric, times: Times): void {
  writer.text(1, name);
  writer.text(3, unit);
  const data = writer.begin(FIELDS[type]);
  for (const { attributes, value } of points) {
    const point = writer.begin(1);
    if (typeof value === "number") writeNumber(writer, value, times);
    else writeHistogram(writer, value, times);
    for (const pair of Object.entries(attributes)) writeAttribute(writer, typeof value === "number" ? 7 : 9, pair);
    writer.end(point);
  }
  if (type !== "gauge") writer.integer(2, CUMULATIVE);
  if (type === "sum") writer.integer(3, 1);
  writer.end(data);
}

function writeNumber(writer: ProtoWriter, value: number, { startMs, endMs }: Times): void {
  writer.time(2, startMs);
  writer.time(3, endMs);
  writer.double(4, value);
}

function writeHistogram(writer: ProtoWriter, { count, sum, buckets }: Histogram, { startMs, endMs }: Times): void {
  writer.time(2, startMs);
  writer.time(3, endMs);
  writer.fixed64(4, count);
  writer.double(5, sum);
  writer.packedFixed64(6, buckets);
  writer.packedDouble(7, BOUNDS_S);
}

interface Histogram {
  readonly count: number;
  readonly sum: number;
  /** Counts by bucket. Their number is that of the bounds plus one. */
  readonly buckets: readonly number[];
}

function addHistograms(one: Histogram, other: Histogram): Histogram {
  const buckets = one.buckets.map((count, index) => count + other.buckets[index]!);
  return { count: one.count + other.count, sum: one.sum + other.sum, buckets };
}

/** Values by attributes. Values with the same attributes are joined. */
class SharedSeries<T extends PointValue> {
  readonly #join: (one: T, other: T) => T;
  readonly #byKey = new Map<string, { readonly attributes: Attributes; value: T }>();

  constructor(join: (one: T, other: T) => T) {
    this.#join = join;
  }

  add(attributes: Attributes, value: T): void {
    const key = JSON.stringify(attributes);
    const known = this.#byKey.get(key);
    if (known) known.value = this.#join(known.value, value);
    else this.#byKey.set(key, { attributes, value });
  }

  points(): readonly Point[] {
    return [...this.#byKey.values()];
  }
}
