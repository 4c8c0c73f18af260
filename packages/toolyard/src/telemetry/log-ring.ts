import type { LogLevel } from "../core/ports/ports.ts";
import { LEVEL_ORDER } from "./log-levels.ts";
import { createTextFormatter, type LogEntry } from "./log-format.ts";
import { firstChars } from "../core/text/truncate.ts";

const MAX_LINES = 1000;
const MAX_LINE_CHARS = 2000;
const format = createTextFormatter(false);

interface RingLine {
  readonly level: LogLevel;
  readonly text: string;
  /** Principal of the call. Absent if the line does not belong to a call. */
  readonly principal: unknown;
}

export interface LogQuery {
  /** @default 100 */
  readonly limit?: number;
  /** @default all */
  readonly level?: LogLevel;
  /** Principal id. @default all lines, also those that do not belong to a call */
  readonly principal?: string | undefined;
}

/** The most recent lines of the log, for clients of a running hub. Limited in number and length. */
export class LogRing {
  readonly #lines: RingLine[] = [];
  readonly #maxLines: number;
  #next = 0;

  constructor(maxLines = MAX_LINES) {
    this.#maxLines = maxLines;
  }

  push(entry: LogEntry): void {
    this.#lines[this.#next % this.#maxLines] = {
      level: entry.level,
      text: firstChars(format(entry), MAX_LINE_CHARS),
      principal: entry.facts["principal"],
    };
    this.#next += 1;
  }

  /**
   * Returns the last `limit` lines with at least this level, oldest first; with `principal`, only lines of its calls.
   */
  lines({ limit = 100, level = "debug", principal }: LogQuery = {}): string[] {
    const first = Math.max(0, this.#next - this.#maxLines);
    const inOrder = Array.from(
      { length: this.#next - first },
      (_, index) => this.#lines[(first + index) % this.#maxLines]!,
    );
    const matching = inOrder.filter(
      (line) =>
        LEVEL_ORDER[line.level] >= LEVEL_ORDER[level] && (principal === undefined || line.principal === principal),
    );
    return limit > 0 ? matching.slice(-limit).map(({ text }) => text) : [];
  }
}
