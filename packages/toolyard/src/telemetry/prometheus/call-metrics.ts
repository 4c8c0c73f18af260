import { LATENCY_BOUNDS_MS, OTHER, OUTCOMES, type LiveCallRow } from "../../core/ports/call-statistics.ts";
import { tokensOfBytes } from "../../core/text/token-estimate.ts";
import { labelText, type MetricsText } from "./metrics-text.ts";

const CALLS = "toolyard_calls_total";
const SECONDS = "toolyard_call_seconds_total";
const DURATION = "toolyard_call_duration_seconds";
const BUCKET_LABELS = [...LATENCY_BOUNDS_MS.map((bound) => String(bound / 1000)), "+Inf"].map(
  (bound) => `,le="${bound}"} `,
);

/**
 * Formatted series of one row. They are kept until the row changes: with thousands of tools, formatting takes most of
 * the time, and few tools are called between two scrapes.
 */
interface RowSeries {
  readonly calls: string;
  readonly seconds: string;
  /** Labels of the row's histogram: its own labels, or those of `other` of its source. */
  readonly histogram: string;
  /** Number of calls when the lines were formatted. */
  writtenAt: number;
  callLines: string;
  secondsLine: string;
}

/**
 * Writes the counts of calls. Each histogram has one line per bucket, so only the first tools have separate histograms;
 * further tools share the histogram `other` of their source. A tool keeps its histogram until the hub exits.
 */
export class CallMetrics {
  readonly #redact: (text: string) => string;
  readonly #maxHistograms: number;
  readonly #series = new WeakMap<LiveCallRow, RowSeries>();
  #histogramCount = 0;

  constructor(redact: (text: string) => string, maxHistograms: number) {
    this.#redact = redact;
    this.#maxHistograms = maxHistograms;
  }

  write(out: MetricsText, rows: readonly LiveCallRow[]): void {
    const series = rows.map((row) => this.#currentSeries(row));
    out.family(CALLS, "counter", "Finished calls by tool, source, method and outcome code.");
    for (const { callLines } of series) out.raw(callLines);
    out.family(SECONDS, "counter", "Sum of the durations of calls.");
    for (const { secondsLine } of series) out.raw(secondsLine);
    out.family(DURATION, "histogram", "Duration of calls in the hub, with the time of the tool.");
    for (const [labels, sums] of sumBy(rows, (index) => series[index]!.histogram)) writeHistogram(out, labels, sums);
    this.#writeSizes(out, rows);
  }

  #writeSizes(out: MetricsText, rows: readonly LiveCallRow[]): void {
    const bySource = sumBy(rows, (index) => rows[index]!.source);
    const sizes = [
      ["toolyard_call_argument_bytes_total", "argumentBytes", "Size of the arguments of calls, as JSON."],
      ["toolyard_call_result_bytes_total", "resultBytes", "Size of the results of calls, as JSON."],
    ] as const;
    for (const [name, member, help] of sizes) {
      out.family(name, "counter", help);
      for (const [source, sums] of bySource) out.sample(name, sums[member], { source: this.#redact(source) });
    }
    const tokens = "toolyard_call_result_tokens_total";
    out.family(tokens, "counter", "Tokens that the results of calls cost a model, estimated from their size.");
    for (const [source, { resultBytes }] of bySource)
      out.sample(tokens, tokensOfBytes(resultBytes), { source: this.#redact(source) });
  }

  #currentSeries(row: LiveCallRow): RowSeries {
    let series = this.#series.get(row);
    if (!series) this.#series.set(row, (series = this.#createSeries(row)));
    if (series.writtenAt === row.calls) return series;
    series.writtenAt = row.calls;
    series.callLines = "";
    for (const [index, outcome] of OUTCOMES.entries()) {
      const count = row.outcomeCounts[index]!;
      if (count > 0) series.callLines += `${series.calls}${outcome}"} ${count}\n`;
    }
    series.secondsLine = `${series.seconds} ${row.totalMs / 1000}\n`;
    return series;
  }

  #createSeries({ source, tool, method }: LiveCallRow): RowSeries {
    const own = { source: this.#redact(source), tool: this.#redact(tool), method };
    const labels = labelText(own);
    const isNamed = tool !== "" && tool !== OTHER;
    const hasOwn = !isNamed || this.#histogramCount < this.#maxHistograms;
    if (isNamed && hasOwn) this.#histogramCount += 1;
    return {
      calls: `${CALLS}{${labels},outcome="`,
      seconds: `${SECONDS}{${labels}}`,
      histogram: hasOwn ? labels : labelText({ ...own, tool: OTHER }),
      writtenAt: -1,
      callLines: "",
      secondsLine: "",
    };
  }
}

interface RowSums {
  readonly buckets: Float64Array;
  calls: number;
  totalMs: number;
  argumentBytes: number;
  resultBytes: number;
}

function sumBy(rows: readonly LiveCallRow[], keyOf: (index: number) => string): ReadonlyMap<string, Readonly<RowSums>> {
  const all = new Map<string, RowSums>();
  for (const [index, row] of rows.entries()) {
    const key = keyOf(index);
    let sums = all.get(key);
    if (!sums) all.set(key, (sums = emptySums()));
    for (let bucket = 0; bucket < sums.buckets.length; bucket += 1) sums.buckets[bucket]! += row.buckets[bucket]!;
    sums.calls += row.calls;
    sums.totalMs += row.totalMs;
    sums.argumentBytes += row.argumentBytes;
    sums.resultBytes += row.resultBytes;
  }
  return all;
}

function emptySums(): RowSums {
  const buckets = new Float64Array(BUCKET_LABELS.length);
  return { buckets, calls: 0, totalMs: 0, argumentBytes: 0, resultBytes: 0 };
}

function writeHistogram(out: MetricsText, labels: string, { buckets, calls, totalMs }: Readonly<RowSums>): void {
  const series = `${DURATION}_bucket{${labels}`;
  let sum = 0;
  for (let index = 0; index < BUCKET_LABELS.length; index += 1) {
    sum += buckets[index]!;
    out.raw(`${series}${BUCKET_LABELS[index]!}${sum}\n`);
  }
  out.line(`${DURATION}_sum{${labels}}`, totalMs / 1000);
  out.line(`${DURATION}_count{${labels}}`, calls);
}
