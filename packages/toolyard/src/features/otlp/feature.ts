import type { createLiveOtlp } from "./live-otlp.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { Type } from "../../core/options/option-schema.ts";
import { TRACING } from "../../core/ports/tracing.ts";
import { CALL_STATISTICS, GET_HUB, LOG_FEED, LOGGER, VARIABLES } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { TELEMETRY } from "../../kernel/telemetry.ts";
import { STATE } from "../../state/ports/store.ts";
import { SAMPLERS } from "../../telemetry/otlp/sampler.ts";
import { OtlpSchema, resolveOtlp, type OtlpConfig, type OtlpOptions } from "../../telemetry/otlp/options.ts";

/** Sections of the configuration that the export reads. */
export interface OtlpReads {
  readonly telemetry?: { readonly otlp?: OtlpConfig };
}

/** Code of the export. Loaded by `prepare` if a hub requests telemetry. */
let live: { readonly createLiveOtlp: typeof createLiveOtlp } | undefined;

/**
 * Returns the options, or `undefined` if nothing is sent. Variables that the hub does not support may be meant for
 * other programs. They are only a warning if the configuration has no section for the export, and an error if it has
 * one.
 */
function resolve(
  { telemetry }: OtlpReads,
  variables: EnvironmentVariables,
  logger?: Pick<Logger, "warning">,
): OtlpOptions | undefined {
  try {
    return resolveOtlp(telemetry?.otlp, variables);
  } catch (error) {
    if (telemetry?.otlp !== undefined || !(error instanceof OptionError)) throw error;
    logger?.warning("The OTEL_ variables are not used, so no telemetry is sent.", { reason: error.message });
    return undefined;
  }
}

/** Feature: traces, metrics and logs by OTLP. Without configuration, it adds nothing to a hub. */
export const OTLP = defineFeature({
  name: "otlp",
  schema: { telemetry: Type.Optional(Type.Object({ otlp: Type.Optional(OtlpSchema) })) },
  uses: [CALL_STATISTICS, GET_HUB, LOGGER, LOG_FEED, VARIABLES, TELEMETRY, STATE],
  provides: [TRACING],
  prepare: async (config: OtlpReads, variables) => {
    if (resolve(config, variables)) live ??= await import("./live-otlp.ts");
  },
  start: ({ getHub, telemetry, state, ...services }, config: () => OtlpReads) => {
    const options = resolve(config(), services.variables, services.logger);
    if (!options || !live) return { services: { tracing: undefined } };
    const { unknownSampler } = options;
    if (unknownSampler !== undefined)
      services.logger.warning("The sampler in OTEL_TRACES_SAMPLER is unknown, so every trace is recorded.", {
        sampler: unknownSampler,
        known: SAMPLERS.join(", "),
      });
    const { tracing, calls, auditSink, close } = live.createLiveOtlp(options, {
      ...services,
      redactor: telemetry.redactor,
      hub: () => getHub().port,
    });
    if (tracing) state.traceWith?.(tracing);
    if (auditSink) telemetry.addAuditSink(auditSink);
    return { services: { tracing }, ...calls, close };
  },
});
