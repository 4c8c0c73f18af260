import { durationOption } from "../../core/text/duration.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

/** Maximum value of `ready_within`, in milliseconds. */
const MAX_WITHIN_MS = 3_600_000;

/** Keys of `[server]` that the readiness endpoint adds. */
export const READINESS_OPTION_SCHEMAS = {
  ready_within: Type.Optional(
    durationOption(
      {
        description:
          "Time from the hub's start after which `/readyz` does not wait for sources that are still " +
          "starting. 1 h at most.",
        default: "30s",
      },
      { most: MAX_WITHIN_MS, must: "must be 1h at most" },
    ),
  ),
  ready_requires: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: "Sources that must work for `/readyz` to report `ready`, by id. Without it, no source is required.",
      default: [],
    }),
  ),
} as const;

const ReadinessSchema = Type.Object(READINESS_OPTION_SCHEMAS);
export type ReadinessConfig = Static<typeof ReadinessSchema>;

export interface ReadinessOptions {
  readonly withinMs: number;
  /** Ids of the sources that must work. */
  readonly requiredSources: readonly string[];
}

export function resolveReadiness(raw: ReadinessConfig = {}): ReadinessOptions {
  const { ready_within: withinMs, ready_requires: requiredSources } = readOptions(ReadinessSchema, raw, "server.");
  return Object.freeze({ withinMs, requiredSources });
}
