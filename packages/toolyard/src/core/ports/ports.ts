import type { JsonObject } from "../json/json.ts";

export type LogLevel = "debug" | "info" | "warning" | "error";

/** Structured log. The implementation redacts secrets and never writes to stdout. */
export interface Logger {
  debug(message: string, facts?: JsonObject): void;
  info(message: string, facts?: JsonObject): void;
  warning(message: string, facts?: JsonObject): void;
  error(message: string, facts?: JsonObject): void;
  /** Returns a logger that adds these facts to every line. */
  with(facts: JsonObject): Logger;
}

/** Method of a logger that writes no lines of a level. Its callers need not create facts. */
export const NO_LINE = (): void => {};

/**
 * Fact that marks a line with a text that the caller also receives. Code that prints the response then need not
 * print the line.
 */
export const SHOWN_FACT = "told";

export const SILENT_LOGGER: Logger = Object.freeze({
  debug: () => {},
  info: () => {},
  warning: () => {},
  error: () => {},
  with: () => SILENT_LOGGER,
});

/** Result of a search. `name` is rendered for the caller's surface. */
export interface SearchHit {
  readonly name: string;
  /** Id of the source that offers the tool. */
  readonly server: string;
  readonly description: string;
  /** Score from 0 to 1, the best first. Hits with equal scores are in the order of their names. */
  readonly score: number;
  readonly inputSchema: JsonObject;
  /** Schema of the structured result, if the tool has one. */
  readonly outputSchema?: JsonObject;
  /** Reasons for the hit, if requested. */
  readonly why?: SearchReasons;
}

/** Summands of a hit's score, 0 if a part contributes nothing. Absent for an exact name and for a list of all tools. */
export interface SearchReasons {
  /**
   * Share of the query's words that the tool matches, relative to the tool that matches most. Above 1 if the words are
   * the tool's name.
   */
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
  /** Suggestions, if no tool matched. */
  readonly instead?: SearchInstead;
  /**
   * True if the vectors of the tools or of the query were not ready in time, so that the search used words only.
   * @default false
   */
  readonly wordsAlone?: boolean;
}

export interface SearchInstead {
  /** Names of tools that are similar to the query, at most five. */
  readonly near: readonly string[];
  /** Ids of the sources with tools that the caller may use, with the number of these tools. */
  readonly servers: readonly { readonly id: string; readonly tools: number }[];
  /** True if the filter names a server of which the caller may use no tool. */
  readonly noSuchServer: boolean;
}

/** Restriction of a search to some tools. The caller's rights apply too. */
export interface SearchFilter {
  /**
   * Only tools of this source, given by its id, its namespace, or the text before the separator of a name. Not
   * case-sensitive.
   */
  readonly server?: string;
  /** Only tools that are read-only by annotation. @default false */
  readonly readOnly?: boolean;
  /** True to include the reasons of each hit. @default false */
  readonly why?: boolean;
  /**
   * True to return the nearest tools, with low scores, if no tool matches. Has no effect together with `server` or
   * `readOnly`. @default false
   */
  readonly nearest?: boolean;
}

/** Limits of a search. */
export interface SearchBounds extends SearchFilter {
  /** Maximum number of tools to return. If it is below 1 or NaN, 5 are returned. */
  readonly limit: number;
}
