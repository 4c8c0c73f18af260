import { parseExact } from "../../core/json/exact-json.ts";
import { OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { matchesGlob } from "../../core/text/glob.ts";

/** Filters of a search in the audit, as texts. A pattern may contain `*` and `?`. */
export interface AuditFilterOptions {
  readonly event?: string;
  readonly principal?: string;
  readonly client?: string;
  readonly tool?: string;
  readonly source?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly until?: string;
}

/** A line of the audit that is a JSON object. */
export type AuditEntry = JsonObject;

/** Members that filters compare with a pattern. */
const PATTERNS = {
  event: "event",
  principal: "principal",
  client: "client",
  tool: "target",
  source: "source",
} as const;

/** Returns a function that reads a line, and returns its entry if all filters match. Throws an `OptionError`. */
export function createFilter(options: AuditFilterOptions, now = Date.now()): (line: string) => AuditEntry | undefined {
  const tests = [
    ...Object.entries(PATTERNS).flatMap(([option, member]) => patternTest(options[option as "tool"], member)),
    ...outcomeTest(options.outcome),
    ...timeTest(options.since, { name: "--since", now, isAfter: true }),
    ...timeTest(options.until, { name: "--until", now, isAfter: false }),
  ];
  return (line) => {
    const entry = parseEntry(line);
    return entry && tests.every((test) => test(entry)) ? entry : undefined;
  };
}

type EntryTest = (entry: AuditEntry) => boolean;

function patternTest(pattern: string | undefined, member: string): readonly EntryTest[] {
  if (pattern === undefined) return [];
  return [(entry) => typeof entry[member] === "string" && matchesGlob(pattern, entry[member])];
}

/** Returns the test of an outcome. `failed` matches every outcome except `ok`. */
function outcomeTest(outcome: string | undefined): readonly EntryTest[] {
  if (outcome === undefined) return [];
  return [({ kind }) => (outcome === "failed" ? kind !== "ok" : kind === outcome)];
}

interface TimeOption {
  readonly name: string;
  readonly now: number;
  readonly isAfter: boolean;
}

/** Returns the test of a line's time. A duration is subtracted from the current time. */
function timeTest(text: string | undefined, { name, now, isAfter }: TimeOption): readonly EntryTest[] {
  if (text === undefined) return [];
  const limit = /^\d{4}-/.test(text) ? Date.parse(text) : now - parseDuration(text, name);
  if (Number.isNaN(limit))
    throw new OptionError(
      `${name} must be a time such as 2026-01-02T03:04:05Z or a duration such as 2h, got "${text}".`,
    );
  return [
    ({ time }) => {
      const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
      return isAfter ? at >= limit : at <= limit;
    },
  ];
}

function parseEntry(line: string): AuditEntry | undefined {
  try {
    const value: unknown = parseExact(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
