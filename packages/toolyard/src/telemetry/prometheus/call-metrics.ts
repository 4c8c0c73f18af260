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
  /** Rows with these labels. There are several if their names differ only in secrets. */
  readonly rows: LiveCallRow[];
  /** Source without secrets. */
  readonly source: string;
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
  readonly #byLabels = new Map<string, RowSeries>();
  #histogramCount = 0;

  constructor(redact: (text: string) => string, maxHistograms: number) {
    this.#redact = redact;
    this.#maxHistograms = maxHistograms;
  }

  write(out: MetricsText, rows: readonly LiveCallRow[]): void {
    const series = rows.map((row) => this.#seriesOf(row));
    const all = new Set(series);
    for (const one of all) update(one);
    out.family(CALLS, "counter", "Finished calls by tool, source, method and outcome code.");
    for (const { callLines } of all) out.raw(callLines);
    out.family(SECONDS, "counter", "Sum of the durations of calls.");
    for (const { secondsLine } of all) out.raw(secondsLine);
    out.family(DURATION, "histogram", "Duration of calls in the hub, with the time of the tool.");
    for (const [labels, sums] of sumBy(rows, (index) => series[index]!.histogram)) writeHistogram(out, labels, sums);
    writeSizes(
      out,
      sumBy(rows, (index) => series[index]!.source),
    );
  }

  #seriesOf(row: LiveCallRow): RowSeries {
    let series = this.#series.get(row);
    if (!series) this.#series.set(row, (series = this.#createSeries(row)));
    return series;
  }

  /** Returns the series with the labels of a row. Prometheus refuses duplicates, so equal labels are one series. */
  #createSeries(row: LiveCallRow): RowSeries {
    const { source, tool, method } = row;
    const own = { source: this.#redact(source), tool: this.#redact(tool), method };
    const labels = labelText(own);
    const known = this.#byLabels.get(labels);
    if (known) {
      known.rows.push(row);
      return known;
    }
    const isNamed = tool !== "" && tool !== OTHER;
    const hasOwn = !isNamed || this.#histogramCount < this.#maxHistograms;
    if (isNamed && hasOwn) this.#histogramCount += 1;
    const series = {
      rows: [row],
      source: own.source,
      calls: `${CALLS}{${labels},outcome="`,
      seconds: `${SECONDS}{${labels}}`,
      histogram: hasOwn ? labels : labelText({ ...own, tool: OTHER }),
      writtenAt: -1,
      callLines: "",
      secondsLine: "",
    };
    this.#byLabels.set(labels, series);
    return series;
  }
}

/** Formats the lines of a series again if one of its rows has changed. */
function update(series: RowSeries): void {
  const { rows } = series;
  const calls = sum(rows, (row) => row.calls);
  if (series.writtenAt === calls) return;
  series.writtenAt = calls;
  series.callLines = "";
  for (const [index, outcome] of OUTCOMES.entries()) {
    const count = sum(rows, (row) => row.outcomeCounts[index]!);
    if (count > 0) series.callLines += `${series.calls}${outcome}"} ${count}\n`;
  }
  series.secondsLine = `${series.seconds} ${sum(rows, (row) => row.totalMs) / 1000}\n`;
}

function sum(rows: readonly LiveCallRow[], valueOf: (row: LiveCallRow) => number): number {
  let total = 0;
  for (const row of rows) total += valueOf(row);
  return total;
}

/** Writes the sizes of calls by source. */
function writeSizes(out: MetricsText, bySource: ReadonlyMap<string, Readonly<RowSums>>): void {
  const sizes = [
    ["toolyard_call_argument_bytes_total", "argumentBytes", "Size of the arguments of calls, as JSON."],
    ["toolyard_call_result_bytes_total", "resultBytes", "Size of the results of calls, as JSON."],
  ] as const;
  for (const [name, member, help] of sizes) {
    out.family(name, "counter", help);
    for (const [source, sums] of bySource) out.sample(name, sums[member], { source });
  }
  const tokens = "toolyard_call_result_tokens_total";
  out.family(tokens, "counter", "Tokens that the results of calls cost a model, estimated from their size.");
  for (const [source, { resultBytes }] of bySource) out.sample(tokens, tokensOfBytes(resultBytes), { source });
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
  let total = 0;
  for (let index = 0; index < BUCKET_LABELS.length; index += 1) {
    total += buckets[index]!;
    out.raw(`${series}${BUCKET_LABELS[index]!}${total}\n`);
  }
  out.line(`${DURATION}_sum{${labels}}`, totalMs / 1000);
  out.line(`${DURATION}_count{${labels}}`, calls);
}
