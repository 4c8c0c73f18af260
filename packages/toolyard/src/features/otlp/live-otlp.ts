import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import type { CallStatistics } from "../../core/ports/call-statistics.ts";
import type { HubContent } from "../../core/ports/hub-port.ts";
import type { LogFeed } from "../../core/ports/log-feed.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { LineSink } from "../../telemetry/line-sink.ts";
import type { Redactor } from "../../telemetry/redactor.ts";
import { factNames } from "../../telemetry/otlp/names.ts";
import type { OtlpOptions } from "../../telemetry/otlp/options.ts";
import { OtlpExporter } from "../../telemetry/otlp/otlp-exporter.ts";
import { OtlpMetrics } from "../../telemetry/otlp/otlp-metrics.ts";
import { createSampler } from "../../telemetry/otlp/sampler.ts";
import { Tracer } from "../../telemetry/otlp/tracer.ts";
import { recordCalls, type StageRecorder } from "./call-stages.ts";

export interface LiveOtlpParts {
  readonly logger: Logger;
  readonly logFeed: LogFeed;
  readonly redactor: Pick<Redactor, "text" | "name" | "version">;
  readonly variables: EnvironmentVariables;
  readonly callStatistics: CallStatistics;
  readonly hub: () => Pick<HubContent, "sources">;
}

/** Telemetry of one hub. Loaded only if the configuration requests it. */
export interface LiveOtlp {
  /** Absent: no traces. */
  readonly tracing: Tracer | undefined;
  /** Absent: calls are not recorded. */
  readonly calls: StageRecorder | undefined;
  /** Absent: the audit is not sent. */
  readonly auditSink: LineSink | undefined;
  close(): Promise<void>;
}

export function createLiveOtlp(options: OtlpOptions, parts: LiveOtlpParts): LiveOtlp {
  const { logger, logFeed, redactor, variables: environment, callStatistics } = parts;
  const redact = (text: string): string => redactor.text(text);
  const redactName = (text: string): string => redactor.name(text);
  const names = factNames(options.conventions);
  const metrics = new OtlpMetrics({ callStatistics, sources: () => parts.hub().sources(), names, redact: redactName });
  const exporter = new OtlpExporter(options, {
    logger,
    environment,
    spans: { names, redact, redactName, secretsVersion: () => redactor.version },
    metrics: (batch) => metrics.addTo(batch),
  });
  const sampler = createSampler(options.sampler, options.ratio);
  const tracing = options.targets.traces
    ? new Tracer(sampler, { redact, redactName, onEnd: (span) => exporter.addSpan(span) })
    : undefined;
  const stop =
    options.hasLog && options.targets.logs ? logFeed.added.on((line) => exporter.addLogLine(line)) : undefined;
  return {
    tracing,
    calls: tracing && recordCalls(tracing, options),
    auditSink: options.hasAudit && options.targets.logs ? exporter.auditSink() : undefined,
    close: async () => {
      stop?.();
      await exporter.close();
    },
  };
}
