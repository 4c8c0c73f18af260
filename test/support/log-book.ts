import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Logger, LogLevel } from "../../packages/toolyard/src/core/ports/ports.ts";

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** Fields of the line, including those of `with`. */
  readonly facts: JsonObject;
}

const CALL_FAILED = "A call failed.";

/** Keeps the log lines of a hub, and resolves waits for a line. */
export class LogBook implements Logger {
  readonly lines: LogLine[];
  readonly #always: JsonObject;
  readonly #waiting: Set<() => void>;

  constructor(always: JsonObject = {}, lines: LogLine[] = [], waiting: Set<() => void> = new Set()) {
    this.#always = always;
    this.lines = lines;
    this.#waiting = waiting;
  }

  debug(message: string, facts?: JsonObject): void {
    this.#add("debug", message, facts);
  }
  info(message: string, facts?: JsonObject): void {
    this.#add("info", message, facts);
  }
  warning(message: string, facts?: JsonObject): void {
    this.#add("warning", message, facts);
  }
  error(message: string, facts?: JsonObject): void {
    this.#add("error", message, facts);
  }
  with(facts: JsonObject): Logger {
    return new LogBook({ ...this.#always, ...facts }, this.lines, this.#waiting);
  }

  /** Returns warnings and errors of a source as text; those of single calls are in `failedCalls`. */
  warnings(source: string): string[] {
    return this.lines
      .filter((line) => isWarning(line) && line.facts["source"] === source && line.message !== CALL_FAILED)
      .map(({ message }) => message);
  }

  /** Resolves with the first warning of a source that is not about a call. */
  warningOf(source: string, from = 0): Promise<LogLine> {
    return this.until(
      (line) => isWarning(line) && line.facts["source"] === source && line.message !== CALL_FAILED,
      from,
    );
  }

  /** Returns the fields of failed calls. */
  failedCalls(): JsonObject[] {
    return this.lines.filter(({ message }) => message === CALL_FAILED).map(({ facts }) => facts);
  }

  /** Resolves with the first line for which `isWanted` returns true, past or future; `from` skips older ones. */
  async until(isWanted: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    for (let at = from; ; at += 1) {
      while (at >= this.lines.length) await new Promise<void>((resolve) => this.#waiting.add(resolve));
      if (isWanted(this.lines[at]!)) return this.lines[at]!;
    }
  }

  #add(level: LogLevel, message: string, facts: JsonObject = {}): void {
    this.lines.push({ level, message, facts: { ...this.#always, ...facts } });
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

function isWarning({ level }: LogLine): boolean {
  return level === "warning" || level === "error";
}
