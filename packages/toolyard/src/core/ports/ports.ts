import type { JsonObject } from "../json/json.ts";

export type LogLevel = "debug" | "info" | "warning" | "error";

/** Structured log. Secrets are redacted behind this port. Never writes to stdout. */
export interface Logger {
  debug(message: string, facts?: JsonObject): void;
  info(message: string, facts?: JsonObject): void;
  warning(message: string, facts?: JsonObject): void;
  error(message: string, facts?: JsonObject): void;
  /** A logger whose every line carries these facts too. */
  with(facts: JsonObject): Logger;
}

/** Fact of a line whose words the caller gets as well: who prints the answer need not print the line. */
export const TOLD_FACT = "told";

/** One line per call: no argument and no result value, only shapes and sizes. */
export interface AuditLine {
  /** ISO 8601 with milliseconds. */
  readonly time: string;
  readonly call: string;
  readonly endpoint: string;
  readonly principal: string;
  readonly method: string;
  /** Rendered name of the tool, or what was asked for when nothing resolved. */
  readonly target: string;
  readonly source?: string | undefined;
  /** `ok` or a failure kind. */
  readonly kind: string;
  readonly durationMs: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
  readonly attempts: number;
}

export interface Audit {
  write(line: AuditLine): void;
}

export const SILENT_LOGGER: Logger = Object.freeze({
  debug: () => {},
  info: () => {},
  warning: () => {},
  error: () => {},
  with: () => SILENT_LOGGER,
});

/** One hit of a search. `name` is rendered for the caller's surface. */
export interface SearchHit {
  readonly name: string;
  /** Id of the source that offers it. */
  readonly server: string;
  readonly description: string;
  /** 0 to 1, best first; equal scores are in name order. */
  readonly score: number;
  readonly inputSchema: JsonObject;
  /** What its structured result looks like, where the tool says so. */
  readonly outputSchema?: JsonObject;
  /** What it was found by, where that was asked for. */
  readonly why?: SearchReasons;
}

/** What a hit's place comes from: parts of one sum, 0 for nothing. An exact name and a list of everything have none. */
export interface SearchReasons {
  /** Words that the query shares with the tool: 1 for the tool that shares most, more where they are its name. */
  readonly words: number;
  /** Likeness of query and tool. */
  readonly meaning: number;
  /** What the words of the nearest tools of other servers say. */
  readonly neighbours: number;
  /** What the best tools of the same server say. */
  readonly server: number;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** How many tools matched in all. */
  readonly total: number;
  /** When nothing matched: where to look instead. */
  readonly instead?: SearchInstead;
  /** The vectors were not ready in time, so the hits are by words alone. @default false */
  readonly wordsAlone?: boolean;
}

export interface SearchInstead {
  /** Names of tools that are written much like the query, at most five. */
  readonly near: readonly string[];
  /** Sources of which the caller may use a tool, with how many, by id. */
  readonly servers: readonly { readonly id: string; readonly tools: number }[];
  /** The server that the filter names is none of which the caller may use a tool. */
  readonly noSuchServer: boolean;
}

/** Which tools a search is about. Rights are the caller's in any case. */
export interface SearchFilter {
  /**
   * Only tools of this source: its id, its namespace, or what stands before the separator of a name. Case does not
   * matter.
   */
  readonly server?: string;
  /** Only tools that change nothing, by their annotations. @default false */
  readonly readOnly?: boolean;
  /** Whether hits say what they were found by. @default false */
  readonly why?: boolean;
  /**
   * Whether the nearest tools are given, with low scores, if no tool matches; not within one server or read-only tools.
   *
   * @default false
   */
  readonly nearest?: boolean;
}

/** How far a search goes. */
export interface SearchBounds extends SearchFilter {
  /** The most tools to be found. Below 1 or no number: 5. */
  readonly limit: number;
}
