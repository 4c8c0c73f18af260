import { stringifyExact } from "../core/json/exact-json.ts";
import type { Audit } from "../core/ports/ports.ts";
import type { LineSink } from "./line-sink.ts";
import type { Redactor } from "./redactor.ts";

/** About what a line has beside its target. */
const OTHER_CHARS = 300;

export const NO_AUDIT: Audit = Object.freeze({ write: () => {} });

/**
 * One JSON line for each call. Names that callers made up may hold anything, so they are redacted like all that is
 * written; the sink is opened and closed by whoever makes the audit.
 */
export function createAudit(sink: LineSink, redactor: Redactor): Audit {
  return {
    write: (line) => {
      // Whatever is a secret now is hidden, though the line is made later.
      const target = redactor.text(line.target);
      sink.write({ chars: target.length + OTHER_CHARS, text: () => stringifyExact({ ...line, target }) });
    },
  };
}
