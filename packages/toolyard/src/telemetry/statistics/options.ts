import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

/** Keys of `[telemetry]` that statistics add. */
export const STATISTICS_OPTION_SCHEMAS = {
  max_tools: Type.Optional(
    Type.Integer({
      description:
        "Tools with counts of their own in `toolyard top`, `/status/calls` and metrics. Further tools are counted " +
        "together as `other` of their source.",
      default: 1000,
      minimum: 0,
      maximum: 10_000,
    }),
  ),
} as const;

const StatisticsSchema = Type.Object(STATISTICS_OPTION_SCHEMAS, {
  description: "Counts, metrics and traces of calls. Read at the start of the hub.",
});
export const TELEMETRY_SECTION = { telemetry: Type.Optional(StatisticsSchema) } as const;

export type StatisticsConfig = Static<typeof StatisticsSchema>;

export interface StatisticsOptions {
  readonly maxTools: number;
}

export function resolveStatistics(raw: StatisticsConfig = {}): StatisticsOptions {
  const { max_tools: maxTools } = readOptions(StatisticsSchema, raw, "telemetry.");
  return Object.freeze({ maxTools });
}
