import type { JsonObject } from "../../core/json/json.ts";
import type { LogFeed } from "../../core/ports/log-feed.ts";
import { SHOWN_FACT } from "../../core/ports/ports.ts";
import { createAudit, NO_AUDIT } from "../../telemetry/audit.ts";
import { openAuditSinks } from "../../telemetry/audit/audit-sinks.ts";
import type { LogSettings } from "../../kernel/kernel-keys.ts";
import type { Telemetry } from "../../kernel/telemetry.ts";
import type { LineSink, SinkOptions } from "../../telemetry/line-sink.ts";
import { createLogger } from "../../telemetry/logger.ts";
import type { LogEntry } from "../../telemetry/log-format.ts";
import { LEVEL_ORDER } from "../../telemetry/log-levels.ts";
import { LogRing } from "../../telemetry/log-ring.ts";
import { resolveAudit, type AuditConfig } from "../../telemetry/audit/options.ts";
import { resolveLogging, type LoggingConfig } from "../../telemetry/options.ts";
import { redactedLogger } from "../../telemetry/redacted-logger.ts";
import { Redactor } from "../../telemetry/redactor.ts";
import { openFileSink, openStderrSink } from "../../telemetry/sinks.ts";

/** Sections of the configuration that telemetry reads. */
export interface TelemetryReads {
  readonly logging?: LoggingConfig;
  readonly audit?: AuditConfig;
  /** Read only for the audit lines that are sent by OTLP. */
  readonly telemetry?: { readonly otlp?: { readonly audit?: boolean } };
}

export interface OpenTelemetry extends Telemetry {
  /**
   * Returns the last `count` lines of the log, oldest first, redacted. With a principal's id, returns only lines about
   * its calls.
   */
  logLines(count: number, principal?: string): readonly string[];
  /** The same log lines, with their facts. */
  readonly logFeed: LogFeed;
  /** Writes queued lines and closes the files. */
  close(): Promise<void>;
}

/** Creates the hub's log and audit according to `[logging]` and `[audit]`. */
export function createTelemetry(
  config: TelemetryReads,
  variables: Readonly<Record<string, string | undefined>>,
  { logger: given, printsFailures = false, isQuiet = () => false }: LogSettings = {},
): OpenTelemetry {
  const redactor = new Redactor();
  const ring = new LogRing();
  const { level, format, file } = resolveLogging(config.logging);
  const sink = file === undefined ? openStderrSink(LOG_SINK) : openFileSink(file, LOG_SINK);
  const color = process.stderr.isTTY === true && variables["NO_COLOR"] === undefined && file === undefined;
  const omits = ({ level: own, facts }: LogEntry): boolean =>
    (printsFailures && isTold(facts)) || (LEVEL_ORDER[own] < LEVEL_ORDER.warning && isQuiet());
  const logging = { level, format, redactor, color, ring, ...(file === undefined && { omits }) };
  const logger = given ? redactedLogger(given, redactor) : createLogger({ ...logging, sink });
  const auditOptions = resolveAudit(config.audit);
  const sinks = [...openAuditSinks(auditOptions, { logger, environment: variables })];
  const isAudited = sinks.length > 0 || isAuditSent(config);
  return {
    logger,
    keptLogger: given ? logger : createLogger({ ...logging, sink: NOWHERE }),
    audit: isAudited ? createAudit(sinks, { redactor, hasArguments: auditOptions.hasArguments }) : NO_AUDIT,
    redactor,
    addAuditSink: (one) => void sinks.push(one),
    logLines: (limit, principal) => ring.texts({ limit, principal }),
    logFeed: ring,
    close: async () => {
      await Promise.all(sinks.map((one) => one.close()));
      await sink.close();
    },
  };
}

function isAuditSent({ telemetry }: TelemetryReads): boolean {
  return telemetry?.otlp?.audit === true;
}

function isTold(facts: JsonObject): boolean {
  return Object.hasOwn(facts, SHOWN_FACT);
}

const NOWHERE: LineSink = { write: () => {}, close: async () => {} };
const LOG_SINK: SinkOptions = {
  describeDropped: (count) => `… ${count} lines were dropped, because the reader was too slow`,
};
