import { isJsonObject } from "../../core/json/json.ts";
import { bareLine } from "../../core/text/program-line.ts";
import type { ProviderStatus } from "../../core/sources/provider.ts";
import type { Problem } from "../../core/sources/records.ts";
import { colorsOf } from "./colors.ts";
import { installingText } from "../installs.ts";
import type { Io } from "./io.ts";
import { plainLine, table } from "./table.ts";
import { cutToWidth } from "./table-width.ts";

/** One source in the output of `status` and `check`. */
export interface SourceLine extends ProviderStatus {
  readonly id: string;
  readonly kind: string;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly problems: readonly Pick<Problem, "subject" | "message" | "renamed" | "repaired">[];
}

const STDERR_LINES = 5;

/**
 * Returns whether a source works or was disabled on purpose. A source that is omitted because a variable is missing
 * counts as unhealthy.
 */
export function isHealthy({ state, lastError, problems }: SourceLine): boolean {
  return (
    problems.every((problem) => problem.renamed || isNote(problem)) &&
    (state === "ready" || (state === "disabled" && lastError === undefined))
  );
}

interface SourceTableOptions {
  /** True if the last output lines and renamed definitions of healthy sources are shown too. */
  readonly everyStderr: boolean;
  /** True if repeated items are listed individually. */
  readonly verbose: boolean;
}

/** Returns a table of sources, then the problems of each. */
export function sourceText(lines: readonly SourceLine[], io: Io, shown: SourceTableOptions): string {
  const details = lines.flatMap((line) => detailsOf(line, io, shown));
  return [sourceRows(lines, io), ...(details.length > 0 ? ["", ...details] : [])].join("\n");
}

/** Width below which a terminal shows only the most important columns. */
const NARROW_COLUMNS = 64;

function sourceRows(lines: readonly SourceLine[], io: Io): string {
  if (io.width !== undefined && io.width < NARROW_COLUMNS)
    return table(
      ["source", "tools", "state"],
      lines.map(({ id, tools, state }) => [cutToWidth(plainLine(id), io.width! - ROOM_BESIDE), String(tools), state]),
      io,
    );
  const rows = lines.map(({ id, kind, tools, resources, prompts, restarts = 0, state }) => [
    id,
    kind,
    String(tools),
    String(resources),
    String(prompts),
    String(restarts),
    state,
  ]);
  return table(["source", "kind", "tools", "resources", "prompts", "restarts", "state"], rows, io);
}

/** Width of the other columns of a narrow table. */
const ROOM_BESIDE = 20;

function detailsOf(line: SourceLine, io: Io, { everyStderr, verbose }: SourceTableOptions): readonly string[] {
  const { lastError, stderr = [], problems, installing } = line;
  const id = plainLine(line.id);
  const { red, yellow, dim } = colorsOf(io);
  const notes = verbose ? [] : notesOf(line).map((text) => `${yellow(id)}: ${text}`);
  if (isHealthy(line) && !everyStderr && !verbose) return notes;
  const shown = everyStderr || !isHealthy(line) ? tellingLines(unsaid(stderr, lastError)) : [];
  return [
    ...(installing ? [plainLine(installingText(line.id, installing))] : []),
    ...(lastError === undefined || isTold(lastError, problems) ? [] : [`${red(id)}: ${plainLine(lastError)}`]),
    ...(verbose ? [] : renamedOf(line).map((text) => `${yellow(id)}: ${text}`)),
    ...problems
      .filter((problem) => verbose || !(problem.renamed || isNote(problem)))
      .map(({ subject, message }) => `${yellow(id)}: ${plainLine(subject)}: ${plainLine(message)}`),
    ...notes,
    ...furtherOf(line).map((text) => `${id}: ${plainLine(text)}`),
    ...repeatsOnce(shown.map(plainLine)).map((text) => `${id} ${dim("stderr:")} ${text}`),
  ];
}

/** Returns the output lines, without npm's notices and the lines that the error already contains. */
function unsaid(stderr: readonly string[], lastError = ""): readonly string[] {
  const isQuoted = (bare: string): boolean => bare.length >= LEAST_QUOTED && lastError.includes(bare);
  const lines = stderr.map((line) => ({ line, bare: bareLine(line) })).filter(({ line }) => !NEWS_OF_NPM.test(line));
  const isNpmQuoted = lines.some(({ line, bare }) => line !== bare && isQuoted(bare));
  return lines.filter(({ line, bare }) => !isQuoted(bare) && !(isNpmQuoted && line !== bare)).map(({ line }) => line);
}

const NEWS_OF_NPM = /^npm (?:notice|(?:error|ERR!) A complete log of this run)/;
/** Minimum length of a line that is compared with the error. Shorter lines occur in any text. */
const LEAST_QUOTED = 4;

/** Returns the last lines. If they contain no error, the last line with an error precedes them. */
function tellingLines(stderr: readonly string[]): readonly string[] {
  const lines = stderr.filter((line) => /[^\s{}()[\],;]/.test(line));
  const last = lines.slice(-STDERR_LINES);
  if (last.some((line) => NAMES_ERROR.test(line))) return last;
  const named = lines.slice(0, -STDERR_LINES).findLast((line) => NAMES_ERROR.test(line));
  return named === undefined ? last : [named, ...last.slice(1)];
}

const NAMES_ERROR = /(?:Error|Exception)\b|\berror:|^(?:fatal|panic)\b/;

/** Returns one line for all renamed resources, and one for all other renamed definitions. */
function renamedOf({ id, problems }: SourceLine): readonly string[] {
  const subjects = problems.flatMap(({ subject, renamed }) => (renamed ? [subject] : []));
  const resources = subjects.filter((subject) => /^[a-z][a-z\d+.-]*:/i.test(subject)).length;
  const told = (count: number, noun: string): string[] => {
    if (count === 0) return [];
    if (count === 1) return [`1 ${noun} of ${plainLine(id)} is offered under a prefix; --verbose lists it`];
    return [`${count} ${noun}s of ${plainLine(id)} are offered under prefixes; --verbose lists them`];
  };
  return [...told(resources, "resource"), ...told(subjects.length - resources, "name")];
}

/** Returns whether a problem is shown although no action is needed. */
function isNote({ repaired }: SourceLine["problems"][number]): boolean {
  return repaired === true;
}

/** Maximum number of subjects in one line about the same problem. */
const MAX_NAMED = 3;

/**
 * Returns lines about repaired definitions. A server tends to repeat one mistake in all definitions, so
 * each mistake is one line.
 */
function notesOf({ problems }: SourceLine): readonly string[] {
  const subjects = new Map<string, string[]>();
  for (const problem of problems) {
    if (!isNote(problem)) continue;
    const { subject, message } = problem;
    const same = subjects.get(message);
    if (same) same.push(subject);
    else subjects.set(message, [subject]);
  }
  return Array.from(subjects, ([message, all]) => {
    const named = all.slice(0, MAX_NAMED).map(plainLine).join(", ");
    const more = all.length - MAX_NAMED;
    return `${named}${more > 0 ? ` and ${more} more (--verbose lists them)` : ""}: ${plainLine(message)}`;
  });
}

/** Returns the lines with consecutive duplicates joined and counted. */
function repeatsOnce(lines: readonly string[]): readonly string[] {
  const runs: { text: string; count: number }[] = [];
  for (const text of lines) {
    const last = runs.at(-1);
    if (last?.text === text) last.count += 1;
    else runs.push({ text, count: 1 });
  }
  return runs.map(({ text, count }) => (count === 1 ? text : `${text} (${count} times)`));
}

/** Returns a line for each separate server of the source, with the caller that uses it. */
function furtherOf({ info }: SourceLine): readonly string[] {
  const further = Array.isArray(info?.["further"]) ? info["further"].filter(isJsonObject) : [];
  return further.map(({ for: whom, state, era, pid }) => {
    const facts = [state, era, pid === undefined ? undefined : `pid ${String(pid)}`].filter(
      (fact) => fact !== undefined,
    );
    return `a separate server for ${String(whom)}: ${facts.join(", ")}`;
  });
}

/** Returns whether the last error is also one of the problems. */
function isTold(lastError: string, problems: SourceLine["problems"]): boolean {
  return problems.some(({ subject, message }) => lastError === message || lastError === `${subject}: ${message}`);
}
