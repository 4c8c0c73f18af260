import type { CallStatistics } from "../../core/ports/call-statistics.ts";
import type { HubContent } from "../../core/ports/hub-port.ts";
import { VERSION } from "../../core/version.ts";
import { CallMetrics } from "./call-metrics.ts";
import { MetricsText } from "./metrics-text.ts";
import { ProcessMetrics } from "./process-metrics.ts";
import { writeSources } from "./source-metrics.ts";

export interface MetricsParts {
  readonly callStatistics: CallStatistics;
  readonly hub: () => Pick<HubContent, "sources">;
  readonly redact: (text: string) => string;
  /** Maximum number of tools with a separate latency histogram. */
  readonly maxHistograms: number;
}

/** Metrics of a hub and its process in the text format of Prometheus. */
export class HubMetrics {
  readonly #parts: MetricsParts;
  readonly #calls: CallMetrics;
  readonly #process = new ProcessMetrics();

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#calls = new CallMetrics(parts.redact, parts.maxHistograms);
  }

  text(): string {
    const { callStatistics, hub, redact } = this.#parts;
    const out = new MetricsText();
    out.family("toolyard_info", "gauge", "Version of the hub and of Node.");
    out.sample("toolyard_info", 1, { version: VERSION, node: process.versions.node });
    this.#process.write(out);
    writeSources(out, hub().sources(), redact);
    this.#calls.write(out, callStatistics.rows());
    return out.toString();
  }

  close(): void {
    this.#process.close();
  }
}
