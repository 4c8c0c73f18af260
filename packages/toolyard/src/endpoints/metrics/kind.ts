import { OptionError } from "../../core/errors.ts";
import { ACCESS, METRICS } from "../../core/services.ts";
import { PROMETHEUS_SECTION, resolvePrometheus } from "../../telemetry/prometheus/options.ts";
import { defineEndpoint } from "../endpoint.ts";

/** Endpoint `GET /metrics`, on a separate address and, with authentication, on the hub's port. */
export const METRICS_ENDPOINT = defineEndpoint({
  schema: PROMETHEUS_SECTION,
  paths: [],
  uses: [METRICS, ACCESS],
  resolve: ({ telemetry }) => {
    const options = resolvePrometheus(telemetry?.prometheus);
    return options.address || options.isOnMainPort ? options : undefined;
  },
  open: async ({ isOnMainPort }, { metrics, access }) => {
    if (isOnMainPort && !access.isGuarded)
      throw new OptionError(
        "`telemetry.prometheus.main_port` needs callers that authenticate. Set `server.token`, or use " +
          "`telemetry.prometheus.listen` instead.",
      );
    const [{ MetricsEndpoint }, open] = await Promise.all([import("./metrics-endpoint.ts"), metrics.open()]);
    return new MetricsEndpoint(open, isOnMainPort);
  },
});
