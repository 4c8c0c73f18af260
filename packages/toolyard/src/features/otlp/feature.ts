import type { createLiveOtlp } from "./live-otlp.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import { Type } from "../../core/options/option-schema.ts";
import { TRACING } from "../../core/ports/tracing.ts";
import { CALL_STATISTICS, GET_HUB, LOG_FEED, LOGGER, REDACT, VARIABLES } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { TELEMETRY } from "../../kernel/telemetry.ts";
import { OtlpSchema, resolveOtlp, type OtlpConfig } from "../../telemetry/otlp/options.ts";

/** Sections of the configuration that the export reads. */
export interface OtlpReads {
  readonly telemetry?: { readonly otlp?: OtlpConfig };
}

/** Code of the export. Loaded by `prepare` if a hub requests telemetry. */
let live: { readonly createLiveOtlp: typeof createLiveOtlp } | undefined;

const resolve = ({ telemetry }: OtlpReads, variables: EnvironmentVariables) => resolveOtlp(telemetry?.otlp, variables);

/** Feature: traces, metrics and logs by OTLP. Without configuration, it adds nothing to a hub. */
export const OTLP = defineFeature({
  name: "otlp",
  schema: { telemetry: Type.Optional(Type.Object({ otlp: Type.Optional(OtlpSchema) })) },
  uses: [CALL_STATISTICS, GET_HUB, REDACT, LOGGER, LOG_FEED, VARIABLES, TELEMETRY],
  provides: [TRACING],
  prepare: async (config: OtlpReads, variables) => {
    if (resolve(config, variables)) live ??= await import("./live-otlp.ts");
  },
  start: ({ getHub, telemetry, ...services }, config: () => OtlpReads) => {
    const options = resolve(config(), services.variables);
    if (!options || !live) return { services: { tracing: undefined } };
    const { tracing, stages, auditSink, close } = live.createLiveOtlp(options, {
      ...services,
      hub: () => getHub().port,
    });
    if (auditSink) telemetry.addAuditSink(auditSink);
    return { services: { tracing }, stages, close };
  },
});
