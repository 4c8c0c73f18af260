import { OptionError } from "../core/errors.ts";
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

/** Schema of the section `[audit]`. */
export const AuditSchema = Type.Object(
  {
    file: Type.Optional(
      Type.Path({
        description: "File that gets one JSON line for each call: principal, target, outcome, duration; no values.",
      }),
    ),
    stderr: Type.Optional(
      Type.Boolean({
        description: "Writes the lines to stderr. Without this and without `file`, no lines are written.",
        default: false,
      }),
    ),
  },
  { description: "One line for each call." },
);

export type LoggingConfig = Static<typeof LoggingSchema>;
export type AuditConfig = Static<typeof AuditSchema>;

export type LogFormat = "text" | "json";

export interface LoggingOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** File for the lines. Absent: stderr. */
  readonly file?: string;
}

/** Target of audit lines. */
export type AuditOptions =
  | { readonly to: "none" }
  | { readonly to: "stderr" }
  | { readonly to: "file"; readonly file: string };

export function resolveLogging(raw: LoggingConfig = {}): LoggingOptions {
  return Object.freeze(readOptions(LoggingSchema, raw));
}

export function resolveAudit(raw: AuditConfig = {}): AuditOptions {
  const { file, stderr } = readOptions(AuditSchema, raw, "audit.");
  if (file !== undefined && stderr)
    throw new OptionError("`audit.file` and `audit.stderr` are both set. Keep only one.");
  if (file !== undefined) return Object.freeze({ to: "file", file });
  return Object.freeze({ to: stderr ? "stderr" : "none" });
}
