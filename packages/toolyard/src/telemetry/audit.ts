import { stringifyExact } from "../core/json/exact-json.ts";
import type { Audit } from "../core/ports/ports.ts";
import type { LineSink } from "./line-sink.ts";
import type { Redactor } from "./redactor.ts";

/** Approximate length of a line without its target. */
const OTHER_CHARS = 300;

export const NO_AUDIT: Audit = Object.freeze({ write: () => {} });

/**
 * Writes one JSON line per call. Names from callers may contain anything, so they are redacted too. The creator of the
 * audit opens and closes the sink.
 */
export function createAudit(sink: LineSink, redactor: Redactor): Audit {
  return {
    write: (line) => {
      // Redacted now, because the line is built later and secrets may have changed meanwhile.
      const target = redactor.text(line.target);
      sink.write({ chars: target.length + OTHER_CHARS, text: () => stringifyExact({ ...line, target }) });
    },
  };
}
