import { CALL_STATISTICS, GET_HUB, LOGGER, METRICS, REDACT } from "../../core/services.ts";
import { METRICS_ENDPOINT } from "../../endpoints/metrics/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { resolvePrometheus, type PrometheusConfig } from "../../telemetry/prometheus/options.ts";
import { LiveMetrics } from "./live-metrics.ts";

/** Sections of the configuration that metrics read. */
export interface PrometheusReads {
  readonly telemetry?: { readonly prometheus?: PrometheusConfig };
}

/** Feature: metrics for Prometheus. */
export const PROMETHEUS = defineFeature({
  name: "prometheus",
  uses: [CALL_STATISTICS, GET_HUB, REDACT, LOGGER],
  provides: [METRICS],
  endpoints: [METRICS_ENDPOINT],
  check: ({ telemetry }: PrometheusReads) => void resolvePrometheus(telemetry?.prometheus),
  start: ({ getHub, ...services }, config) => {
    const options = () => resolvePrometheus(config().telemetry?.prometheus);
    const metrics = new LiveMetrics({ ...services, hub: () => getHub().port, options });
    return { services: { metrics }, close: () => metrics.close() };
  },
});
