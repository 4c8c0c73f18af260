import { monitorEventLoopDelay, type IntervalHistogram } from "node:perf_hooks";
import { CALL_LIMITS, processActivity, type ProcessActivity } from "../../core/process-activity.ts";
import type { MetricsText } from "./metrics-text.ts";

const ACTIVITY = {
  calls: ["toolyard_calls_in_flight", "Calls that run, with calls within calls."],
  queued: ["toolyard_queued", "Calls that wait for a tool or source of limited concurrency, or for the sandbox."],
  sessions: ["toolyard_sessions", "Sessions of MCP clients with revisions up to 2025-11-25."],
  streams: ["toolyard_streams", "Open streams of server-sent events."],
  sandboxRuns: ["toolyard_sandbox_runs", "Runs of code in the sandbox, waiting ones included."],
} as const satisfies Readonly<
  Record<Exclude<keyof ProcessActivity, CounterName | TimeName | "limited">, readonly [string, string]>
>;

type CounterName = "auditLost" | "telemetryLost" | "storeCommands" | "storeFailures" | "searches";
type TimeName = "storeMs" | "searchMs";

const COUNTERS: Readonly<Record<CounterName, readonly [string, string]>> = {
  auditLost: ["toolyard_audit_lost_total", "Audit lines that a target did not take."],
  telemetryLost: ["toolyard_telemetry_lost_total", "Spans and log records that no OTLP collector took."],
  storeCommands: ["toolyard_store_commands_total", "Commands to the shared store that ended."],
  storeFailures: ["toolyard_store_failures_total", "Commands to the shared store that failed."],
  searches: ["toolyard_searches_total", "Searches for tools that ended, by any endpoint."],
};

const TIMES: Readonly<Record<TimeName, readonly [string, string]>> = {
  storeMs: ["toolyard_store_seconds_total", "Sum of the times until the shared store answered."],
  searchMs: ["toolyard_search_seconds_total", "Sum of the times of searches for tools."],
};

const LIMITED = "toolyard_limited_total";
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
const LAG_RESOLUTION_MS = 10;

/** Writes activity, memory, processor time and event-loop lag of this process. */
export class ProcessMetrics {
  readonly #lag: IntervalHistogram = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });

  constructor() {
    this.#lag.enable();
  }

  write(out: MetricsText): void {
    for (const [member, [name, help]] of Object.entries(ACTIVITY))
      out.family(name, "gauge", help).sample(name, processActivity[member as keyof typeof ACTIVITY]);
    for (const [member, [name, help]] of Object.entries(COUNTERS))
      out.family(name, "counter", help).sample(name, processActivity[member as CounterName]);
    for (const [member, [name, help]] of Object.entries(TIMES))
      out.family(name, "counter", help).sample(name, processActivity[member as TimeName] / 1000);
    out.family(LIMITED, "counter", "Calls that a limit refused, by limit.");
    for (const limit of CALL_LIMITS) out.sample(LIMITED, processActivity.limited[limit], { limit });
    this.#writeLag(out);
    writeResources(out);
  }

  close(): void {
    this.#lag.disable();
  }

  /**
   * Writes the event-loop lag under the names that dashboards for Node use. The values cover the time since the
   * previous scrape.
   */
  #writeLag(out: MetricsText): void {
    const values = [
      ["p50", this.#lag.percentile(50)],
      ["p90", this.#lag.percentile(90)],
      ["p99", this.#lag.percentile(99)],
      ["max", this.#lag.count > 0 ? this.#lag.max : 0],
    ] as const;
    for (const [level, nanoseconds] of values) {
      const name = `nodejs_eventloop_lag_${level}_seconds`;
      // The interval of the timer is subtracted, because the histogram includes it.
      const seconds = Math.max(0, nanoseconds / NANOSECONDS - LAG_RESOLUTION_MS / 1000);
      out.family(name, "gauge", "Delay of the event loop since the last reading.").sample(name, seconds);
    }
    this.#lag.reset();
  }
}

function writeResources(out: MetricsText): void {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const gauges = [
    ["process_resident_memory_bytes", rss, "Resident memory of the hub's main process."],
    ["nodejs_heap_size_used_bytes", heapUsed, "Used heap."],
    ["nodejs_heap_size_total_bytes", heapTotal, "Total heap."],
    ["nodejs_external_memory_bytes", external, "Memory of buffers outside the heap."],
    ["process_start_time_seconds", Math.round(Date.now() / 1000 - process.uptime()), "Start, in seconds since 1970."],
  ] as const;
  for (const [name, value, help] of gauges) out.family(name, "gauge", help).sample(name, value);
  out
    .family("process_cpu_seconds_total", "counter", "Processor time of the hub's main process.")
    .sample("process_cpu_seconds_total", (user + system) / MICROSECONDS);
}
