import { isoNow } from "../core/text/iso-now.ts";
import type { JsonObject } from "../core/json/json.ts";
import { NO_LINE, type Logger, type LogLevel } from "../core/ports/ports.ts";
import { boundedFacts, boundedText } from "./bounded-facts.ts";
import type { LineSink } from "./line-sink.ts";
import { createTextFormatter, formatJson, type Formatter, type LogEntry } from "./log-format.ts";
import { LEVEL_ORDER } from "./log-levels.ts";
import type { LogRing } from "./log-ring.ts";
import type { LogFormat } from "./options.ts";
import type { Redactor } from "./redactor.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Target of the lines. The creator of the logger opens and closes it. */
  readonly sink: LineSink;
  readonly redactor: Redactor;
  /** True for coloured output; used only with `format: "text"`. */
  readonly color: boolean;
  /** Keeps the last lines for clients of the hub. */
  readonly ring?: LogRing;
  /** Returns true for lines that are not written to the sink. @default writes every line */
  readonly omits?: (entry: LogEntry) => boolean;
}

/** Creates a logger. Its lines are limited in length, contain no secrets and never go to stdout. */
export function createLogger(options: LoggerOptions): Logger {
  const { sink, ring, redactor, omits } = options;
  const least = LEVEL_ORDER[options.level];
  const format: Formatter = options.format === "json" ? formatJson : createTextFormatter(options.color);
  const clean = (text: string): string => redactor.text(text);
  const write = (level: LogLevel, message: string, facts: JsonObject): void => {
    const entry: LogEntry = {
      time: isoNow(),
      level,
      message: boundedText(message, clean),
      facts: redactor.facts(boundedFacts(facts, clean)),
    };
    if (!omits?.(entry)) sink.write(format(entry));
    ring?.push(entry);
  };
  return loggerWith({ write, least }, {});
}

interface LogWriter {
  /** Rank of the lowest level that is logged; lines of lower levels are not built. */
  readonly least: number;
  write(level: LogLevel, message: string, facts: JsonObject): void;
}

function loggerWith(writer: LogWriter, always: JsonObject): Logger {
  const at = (level: LogLevel): Logger["debug"] => {
    if (LEVEL_ORDER[level] < writer.least) return NO_LINE;
    return (message, facts) => writer.write(level, message, facts ? { ...always, ...facts } : always);
  };
  return Object.freeze({
    debug: at("debug"),
    info: at("info"),
    warning: at("warning"),
    error: at("error"),
    with: (facts: JsonObject) => loggerWith(writer, { ...always, ...facts }),
  });
}
