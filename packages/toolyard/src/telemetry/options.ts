import { Type, type Static } from "../core/options/option-schema.ts";
import { readOptions } from "../core/options/option-values.ts";
import type { LogLevel } from "../core/ports/ports.ts";

/** Schema of the section `[logging]`. */
export const LoggingSchema = Type.Object(
  {
    level: Type.Optional(
      Type.Enum(["debug", "info", "warning", "error"], {
        description: "Lowest level of the lines that are written.",
        default: "info",
      }),
    ),
    format: Type.Optional(
      Type.Enum(["text", "json"], { description: "Plain text, or one JSON object per line.", default: "text" }),
    ),
    file: Type.Optional(
      Type.Path({
        description: "File to which lines are appended. Default: stderr. The file may be moved at any time.",
      }),
    ),
  },
  { description: "The hub's log. Secrets are redacted." },
);

export type LoggingConfig = Static<typeof LoggingSchema>;

export type LogFormat = "text" | "json";

export interface LoggingOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Absent: stderr. */
  readonly file?: string;
}

export function resolveLogging(raw: LoggingConfig = {}): LoggingOptions {
  return Object.freeze(readOptions(LoggingSchema, raw));
}
