import { Emitter } from "../core/events.ts";
import type { LogFeed, LogLine } from "../core/ports/log-feed.ts";
import type { LogLevel } from "../core/ports/ports.ts";
import { LEVEL_ORDER } from "./log-levels.ts";
import { createTextFormatter, type LogEntry } from "./log-format.ts";
import { firstChars } from "../core/text/truncate.ts";

const MAX_LINES = 1000;
const MAX_LINE_CHARS = 2000;
const format = createTextFormatter(false);

export interface LogQuery {
  /** Maximum number of lines. @default 100 */
  readonly limit?: number;
  /** Lowest level. @default all levels */
  readonly level?: LogLevel;
  /** Principal id. @default all lines, including those that do not belong to a call */
  readonly principal?: string | undefined;
}

/** The most recent lines of the log, for clients of a running hub. Limited in number and length. */
export class LogRing implements LogFeed {
  readonly added = new Emitter<LogLine>();
  readonly #lines: LogLine[] = [];
  readonly #maxLines: number;
  #next = 0;

  constructor(maxLines = MAX_LINES) {
    this.#maxLines = maxLines;
  }

  push(entry: LogEntry): void {
    const { source, principal } = entry.facts;
    const line: LogLine = {
      number: this.#next + 1,
      time: entry.time,
      level: entry.level,
      text: firstChars(format(entry), MAX_LINE_CHARS),
      ...(typeof source === "string" && { source }),
      ...(typeof principal === "string" && { principal }),
    };
    this.#lines[this.#next % this.#maxLines] = line;
    this.#next += 1;
    if (this.added.size > 0) this.added.emit(line);
  }

  /**
   * Returns the last `limit` lines of at least this level, oldest first. With a principal, returns only lines about its
   * calls.
   */
  texts({ limit = 100, level = "debug", principal }: LogQuery = {}): string[] {
    const matching = this.lines().filter(
      (line) =>
        LEVEL_ORDER[line.level] >= LEVEL_ORDER[level] && (principal === undefined || line.principal === principal),
    );
    return limit > 0 ? matching.slice(-limit).map(({ text }) => text) : [];
  }

  lines(): readonly LogLine[] {
    const first = Math.max(0, this.#next - this.#maxLines);
    return Array.from({ length: this.#next - first }, (_, index) => this.#lines[(first + index) % this.#maxLines]!);
  }
}
