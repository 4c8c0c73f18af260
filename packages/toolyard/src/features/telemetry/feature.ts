import { Type } from "../../core/options/option-schema.ts";
import { AUDIT, LOG_FEED, LOG_LINES, LOGGER, REDACT, REDACT_FACTS, SECRETS, VARIABLES } from "../../core/services.ts";
import type { Starts } from "../../core/sources/table-facts.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LOG_SETTINGS } from "../../kernel/kernel-keys.ts";
import { TELEMETRY as TELEMETRY_KEY } from "../../kernel/telemetry.ts";
import { AuditSchema } from "../../telemetry/audit/options.ts";
import { LoggingSchema } from "../../telemetry/options.ts";
import { createTelemetry, type TelemetryReads } from "./telemetry.ts";

/** Marks `file` as a value that the user must accept, because log lines are appended to this file. */
const APPENDS: Starts = { keys: ["file"], shownKeys: ["file"], before: "appends to" };

/** Feature: log, audit and redaction. It starts first, because the other features log. */
export const TELEMETRY = defineFeature({
  name: "telemetry",
  schema: {
    logging: Type.Optional(Type.Table(LoggingSchema, { starts: APPENDS })),
    audit: Type.Optional(Type.Table(AuditSchema, { starts: APPENDS })),
  },
  uses: [VARIABLES, LOG_SETTINGS],
  provides: [TELEMETRY_KEY, AUDIT, LOGGER, LOG_LINES, LOG_FEED, REDACT, REDACT_FACTS, SECRETS],
  start: ({ variables, logSettings }, config: () => TelemetryReads) => {
    const telemetry = createTelemetry(config(), variables, logSettings);
    const { audit, logger, logLines, logFeed, redactor } = telemetry;
    return {
      services: {
        telemetry,
        audit,
        logger,
        logLines,
        logFeed,
        redact: (text) => redactor.text(text),
        redactFacts: (facts) => redactor.facts(facts),
        secrets: {
          isFree: (source, text) => redactor.definition(source, text) === text,
          hideFor: (owner, secrets) => redactor.replace(owner, secrets),
        },
      },
      close: () => telemetry.close(),
    };
  },
});
