import type { JsonObject } from "../core/json/json.ts";
import type { Logger, LogLevel } from "../core/ports/ports.ts";

interface BufferedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly facts: JsonObject;
}

/** Maximum number of lines that are kept until the log is ready; then the oldest is dropped. */
const MAX_WAITING = 1000;

/** Logger for code that runs before the hub's logger exists. Lines wait until `bind`. */
export class LateLogger implements Logger {
  readonly #waiting: BufferedLine[] = [];
  #logger: Logger | undefined;

  /** Writes the waiting lines to `logger`, and all later lines too. */
  bind(logger: Logger): void {
    this.#logger = logger;
    for (const { level, message, facts } of this.#waiting.splice(0)) logger[level](message, facts);
  }

  debug(message: string, facts: JsonObject = {}): void {
    this.#take({ level: "debug", message, facts });
  }
  info(message: string, facts: JsonObject = {}): void {
    this.#take({ level: "info", message, facts });
  }
  warning(message: string, facts: JsonObject = {}): void {
    this.#take({ level: "warning", message, facts });
  }
  error(message: string, facts: JsonObject = {}): void {
    this.#take({ level: "error", message, facts });
  }

  with(facts: JsonObject): Logger {
    const add =
      (level: LogLevel) =>
      (message: string, more: JsonObject = {}) =>
        this.#take({ level, message, facts: { ...facts, ...more } });
    return {
      debug: add("debug"),
      info: add("info"),
      warning: add("warning"),
      error: add("error"),
      with: (more) => this.with({ ...facts, ...more }),
    };
  }

  #take(line: BufferedLine): void {
    if (this.#logger) return this.#logger[line.level](line.message, line.facts);
    this.#waiting.push(line);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
  }
}
