import { stringifyExact } from "../core/json/exact-json.ts";
import type { Audit } from "../core/ports/ports.ts";
import type { LineSink } from "./line-sink.ts";
import type { Redactor } from "./redactor.ts";

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
      sink.write({ chars: target.length + OTHER_CHARS, text: () => stringifyExact({ ...line, target }) });
    },
  };
}
