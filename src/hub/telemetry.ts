import type { Audit, Logger } from "../core/ports.ts";
import type { HubConfig } from "./schema.ts";

export interface Telemetry {
  readonly logger: Logger;
  readonly audit: Audit;
  readonly redactor: { redact(text: string): string };
  logLines(count: number): readonly string[];
  close(): Promise<void>;
}

export function createTelemetry(config: HubConfig, _secrets: readonly string[], given?: Logger): Telemetry {
  const make = (facts: object): Logger => {
    const log = (level: string) => (message: string, more: object = {}) => {
      if (config.logging?.level === "debug" || level !== "debug") process.stderr.write(`${level} ${message} ${JSON.stringify({ ...facts, ...more })}\n`);
    };
    return { debug: log("debug"), info: log("info"), warning: log("warning"), error: log("error"), with: (more) => make({ ...facts, ...more }) };
  };
  return { logger: given ?? make({}), audit: { write: () => {} }, redactor: { redact: (text) => text }, logLines: () => [], close: async () => {} };
}
