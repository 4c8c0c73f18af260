import type { JsonObject } from "../core/json/json.ts";
import { TOLD_FACT, type Audit, type Logger } from "../core/ports/ports.ts";
import { createAudit, NO_AUDIT } from "../telemetry/audit.ts";
import type { LineSink, SinkOptions } from "../telemetry/line-sink.ts";
import { createLogger } from "../telemetry/logger.ts";
import { LogRing } from "../telemetry/log-ring.ts";
import { resolveAudit, resolveLogging, type AuditOptions } from "../telemetry/options.ts";
import { redactedLogger } from "../telemetry/redacted-logger.ts";
import { Redactor } from "../telemetry/redactor.ts";
import { openFileSink, openStderrSink } from "../telemetry/sinks.ts";
import type { HubConfig } from "./schema.ts";

export interface Telemetry {
  readonly logger: Logger;
  /** Its lines are among `logLines` and nowhere else. */
  readonly keptLogger: Logger;
  readonly audit: Audit;
  readonly redactor: Redactor;
  /** The last lines of the log, oldest first, redacted; those about one principal's calls where its id is given. */
  logLines(count: number, principal?: string): readonly string[];
  /** Writes out what waits, and closes files. */
  close(): Promise<void>;
}

export interface TelemetryOptions {
  /** A program's own logger, which then gets everything but secrets. */
  readonly logger?: Logger | undefined;
  /** What calls fail with is printed on standard error anyway, so the log there leaves it out. @default false */
  readonly printsFailures?: boolean | undefined;
}

/** The hub's log and audit as `[logging]` and `[audit]` say. */
export function createTelemetry(
  config: HubConfig,
  variables: Readonly<Record<string, string | undefined>>,
  { logger: given, printsFailures = false }: TelemetryOptions = {},
): Telemetry {
  const redactor = new Redactor();
  const ring = new LogRing();
  const { level, format, file } = resolveLogging(config.logging);
  const sink = file === undefined ? openStderrSink(LOG_SINK) : openFileSink(file, LOG_SINK);
  const color = process.stderr.isTTY === true && variables["NO_COLOR"] === undefined && file === undefined;
  const omitsTold = printsFailures && file === undefined;
  const logging = { level, format, redactor, color, ring, ...(omitsTold && { omits: isTold }) };
  const logger = given ? redactedLogger(given, redactor) : createLogger({ ...logging, sink });
  const auditSink = openAuditSink(resolveAudit(config.audit), logger);
  return {
    logger,
    keptLogger: given ? logger : createLogger({ ...logging, sink: NOWHERE }),
    audit: auditSink ? createAudit(auditSink, redactor) : NO_AUDIT,
    redactor,
    logLines: (limit, principal) => ring.lines({ limit, principal }),
    close: async () => {
      await auditSink?.close();
      await sink.close();
    },
  };
}

function isTold(facts: JsonObject): boolean {
  return Object.hasOwn(facts, TOLD_FACT);
}

const NOWHERE: LineSink = { write: () => {}, close: async () => {} };
const LOG_SINK: SinkOptions = {
  describeDropped: (count) => `… ${count} lines were dropped, since nobody took them in time`,
};

function openAuditSink(options: AuditOptions, logger: Logger): LineSink | undefined {
  if (options.to === "none") return undefined;
  const sink: SinkOptions = {
    describeDropped: (count) => JSON.stringify({ time: new Date().toISOString(), dropped: count }),
    onError: (error) =>
      logger.error("The audit cannot be written; lines wait as far as there is room.", {
        error: error instanceof Error ? error.message : String(error),
      }),
  };
  return options.to === "file" ? openFileSink(options.file, sink) : openStderrSink(sink);
}
