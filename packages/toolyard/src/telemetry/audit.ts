import { stringifyExact } from "../core/json/exact-json.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Audit, AuditLine } from "../core/ports/audit.ts";
import type { LineSink } from "./line-sink.ts";
import type { Redactor } from "./redactor.ts";

/** Members of a line, in their order. Callers may pass objects with more. */
const MEMBERS: readonly (keyof AuditLine)[] = [
  "time",
  "call",
  "parent",
  "endpoint",
  "principal",
  "method",
  "target",
  "source",
  "kind",
  "durationMs",
  "argumentBytes",
  "resultBytes",
  "attempts",
];

/** Approximate length of a line without its target. */
const OTHER_CHARS = 300;

export const NO_AUDIT: Audit = Object.freeze({ write: () => {} });

/**
 * Creates the audit, which writes one JSON line per call. Names from callers may contain secrets, so they are redacted.
 * The caller opens and closes `sink`.
 */
export function createAudit(sink: LineSink, redactor: Redactor): Audit {
  return {
    write: (line) => {
      // Redacted immediately, because the line is built later, when the secrets may have changed.
      const target = redactor.text(line.target);
      sink.write({ chars: target.length + OTHER_CHARS, text: () => stringifyExact(pick(line, target)) });
    },
  };
}

function pick(line: AuditLine, target: string): JsonObject {
  const picked: JsonObject = {};
  for (const member of MEMBERS) if (line[member] !== undefined) picked[member] = line[member];
  picked["target"] = target;
  return picked;
}
