import type { Metrics, OpenMetrics } from "../../core/ports/metrics.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { PrometheusOptions } from "../../telemetry/prometheus/options.ts";
import type { MetricsParts } from "../../telemetry/prometheus/hub-metrics.ts";
import type { MetricsServer } from "./metrics-server.ts";

export interface LiveMetricsParts extends Omit<MetricsParts, "maxHistograms"> {
  readonly logger: Logger;
  /** Returns the options of the current configuration. Called when the first address of the hub opens the metrics. */
  readonly options: () => PrometheusOptions;
}

/**
 * Metrics of a hub. Their code is loaded, and their own address is opened, when the first address at which the hub is
 * served needs them. While a changed endpoint replaces another, both use them.
 */
export class LiveMetrics implements Metrics {
  readonly #parts: LiveMetricsParts;
  #server: Promise<MetricsServer> | undefined;
  #users = 0;

  constructor(parts: LiveMetricsParts) {
    this.#parts = parts;
  }

  async open(): Promise<OpenMetrics> {
    this.#users += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#users -= 1;
      if (this.#users === 0) void this.close();
    };
    try {
      const server = await (this.#server ??= this.#start());
      return { text: () => server.text(), release };
    } catch (error) {
      this.#server = undefined;
      release();
      throw error;
    }
  }

  /** Releases the metrics. Idempotent. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await (await server?.catch(() => undefined))?.close();
  }

  async #start(): Promise<MetricsServer> {
    const { MetricsServer: Server } = await import("./metrics-server.ts");
    const { address, maxHistograms } = this.#parts.options();
    return Server.start({ ...this.#parts, maxHistograms }, address);
  }
}
