import type { JsonObject } from "../json/json.ts";

export type LogLevel = "debug" | "info" | "warning" | "error";

/** Structured log. Secrets are redacted behind this port. Never writes to stdout. */
export interface Logger {
  debug(message: string, facts?: JsonObject): void;
  info(message: string, facts?: JsonObject): void;
  warning(message: string, facts?: JsonObject): void;
  error(message: string, facts?: JsonObject): void;
  /** Returns a logger that adds these facts to every line. */
  with(facts: JsonObject): Logger;
}

/** Fact of a line with a text that the caller also receives: code that prints the answer need not print the line. */
export const TOLD_FACT = "told";

/** One line per call: no argument and no result value, only shapes and sizes. */
export interface AuditLine {
  /** ISO 8601 with milliseconds. */
  readonly time: string;
  readonly call: string;
  readonly endpoint: string;
  readonly principal: string;
  readonly method: string;
  /** Rendered name of the tool, or the requested name if it did not resolve. */
  readonly target: string;
  readonly source?: string | undefined;
  /** `ok` or an outcome code. */
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
  /** Schema of its structured result, if the tool has one. */
  readonly outputSchema?: JsonObject;
  /** The reasons for the hit, if requested. */
  readonly why?: SearchReasons;
}

/** The parts of a hit's score: summands, 0 for nothing. An exact name and a list of everything have none. */
export interface SearchReasons {
  /** Words that the query shares with the tool: 1 for the tool that shares most, more if they are its name. */
  readonly words: number;
  /** Similarity of query and tool. */
  readonly meaning: number;
  /** Contribution of the nearest tools of other servers. */
  readonly neighbours: number;
  /** Contribution of the best tools of the same server. */
  readonly server: number;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** Total number of matching tools. */
  readonly total: number;
  /** Suggestions if nothing matched. */
  readonly instead?: SearchInstead;
  /** True if the vectors were not ready in time, so that the hits are by words only. @default false */
  readonly wordsAlone?: boolean;
}

export interface SearchInstead {
  /** Names of tools similar to the query, at most five. */
  readonly near: readonly string[];
  /** Sources with tools that the caller may use, with their number, by id. */
  readonly servers: readonly { readonly id: string; readonly tools: number }[];
  /** True if the caller may use no tool of the server that the filter names. */
  readonly noSuchServer: boolean;
}

/** Restricts a search to some tools. The caller's rights apply in any case. */
export interface SearchFilter {
  /**
   * Only tools of this source: its id, its namespace, or the text before the separator of a name. Case does not matter.
   */
  readonly server?: string;
  /** Only tools that change nothing, by their annotations. @default false */
  readonly readOnly?: boolean;
  /** True if hits include their reasons. @default false */
  readonly why?: boolean;
  /**
   * True if the nearest tools are returned, with low scores, if no tool matches; not within one server or read-only
   * tools.
   *
   * @default false
   */
  readonly nearest?: boolean;
}

/** Limits of a search. */
export interface SearchBounds extends SearchFilter {
  /** Most tools to return. Below 1 or NaN: 5. */
  readonly limit: number;
}
