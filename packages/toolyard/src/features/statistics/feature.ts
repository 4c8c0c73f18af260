import { CALL_STATISTICS } from "../../core/services.ts";
import { STATISTICS as STATISTICS_ENDPOINT } from "../../endpoints/statistics/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { CallCounts } from "../../telemetry/statistics/call-counts.ts";
import { resolveStatistics, TELEMETRY_SECTION, type StatisticsConfig } from "../../telemetry/statistics/options.ts";

/** Feature: counts of all calls, and `GET /status/calls`. */
export const STATISTICS = defineFeature({
  name: "statistics",
  schema: TELEMETRY_SECTION,
  provides: [CALL_STATISTICS],
  endpoints: [STATISTICS_ENDPOINT],
  start: (_services, config: () => { readonly telemetry?: StatisticsConfig }) => {
    const counts = new CallCounts(resolveStatistics(config().telemetry).maxTools);
    return { services: { callStatistics: counts }, onEveryCall: counts.add };
  },
});
