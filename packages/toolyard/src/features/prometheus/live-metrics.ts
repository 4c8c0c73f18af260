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
 * Metrics of a hub. Their code is loaded, and their separate address is opened, when the first address of the hub uses
 * them. While a changed endpoint replaces another, both use the same metrics, with the options of the later one.
 */
export class LiveMetrics implements Metrics {
  readonly #parts: LiveMetricsParts;
  #server: MetricsServer | undefined;
  #options: PrometheusOptions | undefined;
  #turn: Promise<void> = Promise.resolve();
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
      await this.#inTurn(() => this.#start());
      return { text: () => this.#server?.text() ?? "", release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Releases the metrics. Idempotent. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#stop());
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Applies the current options. If the new address cannot be opened, the previous one stays open. */
  async #start(): Promise<void> {
    const options = this.#parts.options();
    if (this.#server && startText(options) === startText(this.#options!)) return;
    // An address cannot be open twice, so the previous listener is closed first if the address is the same.
    if (placeText(options) === placeText(this.#options)) await this.#stop();
    const { MetricsServer: Server } = await import("./metrics-server.ts");
    const { address, maxHistograms } = options;
    const server = await Server.start({ ...this.#parts, maxHistograms }, address);
    await this.#stop();
    this.#server = server;
    this.#options = options;
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#options = undefined;
    await server?.close();
  }
}

function startText({ address, maxHistograms }: PrometheusOptions): string {
  return JSON.stringify([address, maxHistograms]);
}

function placeText(options: PrometheusOptions | undefined): string {
  return JSON.stringify([options?.address?.host, options?.address?.port]);
}
