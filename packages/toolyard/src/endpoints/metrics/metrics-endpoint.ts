import type { OpenMetrics } from "../../core/ports/metrics.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { METRICS_CONTENT } from "../../telemetry/prometheus/metrics-text.ts";
import type { Endpoint } from "../endpoint.ts";
import { METRICS_PATH } from "../paths.ts";

/** Serves `/metrics` on the hub's port, and keeps the separate address of the metrics open. */
export class MetricsEndpoint implements Endpoint {
  readonly #metrics: OpenMetrics;
  readonly #isOnMainPort: boolean;

  constructor(metrics: OpenMetrics, isOnMainPort: boolean) {
    this.#metrics = metrics;
    this.#isOnMainPort = isOnMainPort;
  }

  mount(listener: Mountable): void {
    if (!this.#isOnMainPort) return;
    listener.route({ methods: ["GET"], path: METRICS_PATH }, ({ answer, principal }) => {
      if (permissionOf(principal.rights).isNarrowed)
        throw new Refusal(403, "The metrics of this hub are shown to callers without narrowed rights only.");
      answer.send(200, ["cache-control", "no-store", "content-type", METRICS_CONTENT], this.#metrics.text());
    });
  }

  giveUp(): void {}

  close(): void {
    this.#metrics.release();
  }
}
