import type { JsonObject } from "../core/json/json.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { Redactor } from "./redactor.ts";

/** A logger with any subset of the levels and without `with`, such as `console`. */
export type PlainLogger = Partial<Omit<Logger, "with">>;

/** Returns a logger with all methods: missing levels are silent, and facts of `with` are added to each line. */
export function wholeLogger(logger: Logger | PlainLogger, bound: JsonObject = {}): Logger {
  if (isWhole(logger) && Object.keys(bound).length === 0) return logger;
  const at =
    (level: "debug" | "info" | "warning" | "error") =>
    (message: string, facts?: JsonObject): void => {
      const all = { ...bound, ...facts };
      logger[level]?.(message, ...(Object.keys(all).length === 0 ? [] : [all]));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warning: at("warning"),
    error: at("error"),
    with: (facts) => wholeLogger(logger, { ...bound, ...facts }),
  };
}

function isWhole(logger: Logger | PlainLogger): logger is Logger {
  const methods = ["debug", "info", "warning", "error", "with"] as const;
  return methods.every((name) => typeof (logger as Partial<Logger>)[name] === "function");
}

/** Wraps a program's own logger so that it receives every line without secrets (S14). */
export function redactedLogger(given: Logger | PlainLogger, redactor: Redactor): Logger {
  const logger = wholeLogger(given);
  const hidden = (facts: JsonObject | undefined): [JsonObject?] => (facts === undefined ? [] : [redactor.facts(facts)]);
  return {
    debug: (message, facts) => logger.debug(redactor.text(message), ...hidden(facts)),
    info: (message, facts) => logger.info(redactor.text(message), ...hidden(facts)),
    warning: (message, facts) => logger.warning(redactor.text(message), ...hidden(facts)),
    error: (message, facts) => logger.error(redactor.text(message), ...hidden(facts)),
    with: (facts) => redactedLogger(logger.with(redactor.facts(facts)), redactor),
  };
}
