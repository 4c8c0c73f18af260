import {
  LATENCY_BOUNDS_MS,
  OTHER,
  OUTCOMES,
  type CallStatistics,
  type LiveCallRow,
} from "../../core/ports/call-statistics.ts";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import { processActivity } from "../../core/process-activity.ts";
import { METRIC_NAMES, type FactNames } from "./names.ts";
import { hrTime } from "./otlp-span.ts";

export interface OtlpMetricsParts {
  readonly callStatistics: CallStatistics;
  readonly sources: () => readonly SourceReport[];
  readonly names: FactNames;
  readonly redact: (text: string) => string;
}

type Attributes = Readonly<Record<string, string>>;
interface Point {
  readonly attributes: Attributes;
  readonly value: unknown;
}

/** Numbers of the encoder's enumerations. */
const CUMULATIVE = 1;
const HISTOGRAM = 0;
const GAUGE = 2;
const SUM = 3;
const DOUBLE = 1;
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
  readonly #startedAt = performance.now();
  readonly #ownHistograms = new Set<LiveCallRow>();

  constructor(parts: OtlpMetricsParts) {
    this.#parts = parts;
  }

  collect(): readonly unknown[] {
    const rows = this.#parts.callStatistics.rows();
    const n = METRIC_NAMES;
    const { calls, queued, sessions, streams, sandboxRuns, auditLost, telemetryLost } = processActivity;
    return [
      this.#metric(SUM, { name: n.calls, unit: "{call}", points: this.#callPoints(rows) }),
      this.#metric(HISTOGRAM, { name: n.duration, unit: "s", points: this.#durationPoints(rows) }),
      ...this.#sourceMetrics(),
      this.#single(GAUGE, { name: n.active, unit: "{call}" }, calls),
      this.#single(GAUGE, { name: n.queued, unit: "{call}" }, queued),
      this.#single(GAUGE, { name: n.sessions, unit: "{session}" }, sessions),
      this.#single(GAUGE, { name: n.streams, unit: "{stream}" }, streams),
      this.#single(GAUGE, { name: n.sandboxRuns, unit: "{run}" }, sandboxRuns),
      this.#single(SUM, { name: n.auditLost, unit: "{line}" }, auditLost),
      this.#single(SUM, { name: n.telemetryLost, unit: "{item}" }, telemetryLost),
      this.#single(GAUGE, { name: n.memory, unit: "By" }, process.memoryUsage.rss()),
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
      const counts = Array.from(row.buckets);
      histograms.add(this.#labels(row, tool), {
        count: row.calls,
        sum: row.totalMs / 1000,
        buckets: { boundaries: BOUNDS_S, counts },
      });
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

  #sourceMetrics(): readonly unknown[] {
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
      this.#metric(GAUGE, { name: METRIC_NAMES.sourceUp, unit: "1", points: up.points() }),
      this.#metric(SUM, { name: METRIC_NAMES.sourceRestarts, unit: "{restart}", points: restarts.points() }),
      this.#metric(GAUGE, { name: METRIC_NAMES.sourceTools, unit: "{tool}", points: tools.points() }),
    ];
  }

  #single(type: number, named: { readonly name: string; readonly unit: string }, value: number): unknown {
    return this.#metric(type, { ...named, points: [{ attributes: {}, value }] });
  }

  #metric(
    dataPointType: number,
    { name, unit, points }: { readonly name: string; readonly unit: string; readonly points: readonly Point[] },
  ): unknown {
    const [startTime, endTime] = [hrTime(this.#startedAt), hrTime(performance.now())];
    return {
      descriptor: { name, unit, description: "", valueType: DOUBLE },
      aggregationTemporality: CUMULATIVE,
      dataPointType,
      isMonotonic: dataPointType === SUM,
      dataPoints: points.map((point) => ({ ...point, startTime, endTime })),
    };
  }
}

interface Histogram {
  readonly count: number;
  readonly sum: number;
  readonly buckets: { readonly boundaries: readonly number[]; readonly counts: readonly number[] };
}

function addHistograms(one: Histogram, other: Histogram): Histogram {
  const counts = one.buckets.counts.map((count, index) => count + other.buckets.counts[index]!);
  return { count: one.count + other.count, sum: one.sum + other.sum, buckets: { ...one.buckets, counts } };
}

/** Values by attributes. Values with the same attributes are joined. */
class SharedSeries<T> {
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
