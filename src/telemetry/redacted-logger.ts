import type { JsonObject } from "../core/json.ts";
import type { Logger } from "../core/ports.ts";
import type { Redactor } from "./redactor.ts";

/** A program's own logger, with secrets taken out of every line before it gets there (S14). */
export function redactedLogger(logger: Logger, redactor: Redactor): Logger {
  const hidden = (facts: JsonObject | undefined): [JsonObject?] => (facts === undefined ? [] : [redactor.facts(facts)]);
  return {
    debug: (message, facts) => logger.debug(redactor.text(message), ...hidden(facts)),
    info: (message, facts) => logger.info(redactor.text(message), ...hidden(facts)),
    warning: (message, facts) => logger.warning(redactor.text(message), ...hidden(facts)),
    error: (message, facts) => logger.error(redactor.text(message), ...hidden(facts)),
    with: (facts) => redactedLogger(logger.with(redactor.facts(facts)), redactor),
  };
}
