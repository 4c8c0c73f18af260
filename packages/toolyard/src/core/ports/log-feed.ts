import type { Emitter } from "../events.ts";
import type { LogLevel } from "./ports.ts";

/** One line of the log, redacted and limited in length. */
export interface LogLine {
  /** Number of the line, counted from 1 since the start of the hub. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: LogLevel;
  /** The whole line as it is written. */
  readonly text: string;
  /** Id of the source that the line concerns. @default none */
  readonly source?: string;
  /** Principal of the call that the line concerns. @default none */
  readonly principal?: string;
}

/** The last lines of the log, oldest first, and an event for each new one. */
export interface LogFeed {
  lines(): readonly LogLine[];
  readonly added: Emitter<LogLine>;
}
