import type { Audit } from "../core/ports/audit.ts";
import type { Logger } from "../core/ports/ports.ts";
import { serviceKey } from "../core/service-key.ts";
import type { LineSink } from "../telemetry/line-sink.ts";
import type { Redactor } from "../telemetry/redactor.ts";

/** The log and the audit of a hub. */
export interface Telemetry {
  readonly logger: Logger;
  /** Logger that only keeps its lines for clients that read the log, and does not write them to the log's targets. */
  readonly keptLogger: Logger;
  readonly audit: Audit;
  readonly redactor: Redactor;
  /** Adds a sink of audit lines. Called while the features start. The caller closes the sink. */
  addAuditSink(sink: LineSink): void;
}

/** Key of the service with the log and the audit. The kernel requires it. */
export const TELEMETRY = serviceKey<Telemetry>()("telemetry");
