import { stringifyExact } from "../core/json/exact-json.ts";
import { createColors } from "picocolors";
import { escaped, safeJson } from "../core/text/hidden-text.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { LogLevel } from "../core/ports/ports.ts";

/** One log line. The message and the facts are redacted and limited. */
export interface LogEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly facts: JsonObject;
}

export type Formatter = (entry: LogEntry) => string;

/**
 * Formats one JSON object per line: `time`, `level`, `message`, then the facts. A fact with one of these three names
 * gets the prefix `_`.
 */
export const formatJson: Formatter = ({ time, level, message, facts }) => {
  const line: JsonObject = { time, level, message };
  for (const [name, value] of Object.entries(facts)) line[name in line ? `_${name}` : name] = value;
  return safeJson(stringifyExact(line));
};

const LABELS: Readonly<Record<LogLevel, string>> = { debug: "DEBUG", info: "INFO ", warning: "WARN ", error: "ERROR" };

/** Formats lines for a terminal: time, level, message, then `name=value`. A stack follows on separate lines. */
export function createTextFormatter(withColor: boolean): Formatter {
  const colors = createColors(withColor);
  const paint: Readonly<Record<LogLevel, (text: string) => string>> = {
    debug: colors.dim,
    info: colors.cyan,
    warning: colors.yellow,
    error: colors.red,
  };
  return ({ time, level, message, facts }) => {
    const { stacks, words } = splitFacts(facts);
    const tail = words.length > 0 ? ` ${colors.dim(words.join(" "))}` : "";
    const below = stacks.map((stack) => `\n${indent(stack)}`).join("");
    return `${colors.dim(time)} ${paint[level](LABELS[level])} ${visible(message)}${tail}${below}`;
  };
}

function splitFacts(facts: JsonObject): { stacks: string[]; words: string[] } {
  const stacks: string[] = [];
  const words: string[] = [];
  for (const [name, value] of Object.entries(facts)) {
    const stack = name === "stack" && typeof value === "string" ? value : stackOf(value);
    if (stack === undefined) words.push(`${visible(name)}=${word(value)}`);
    else stacks.push(stack);
  }
  return { stacks, words };
}

function stackOf(value: unknown): string | undefined {
  const stack = typeof value === "object" && value !== null ? (value as JsonObject)["stack"] : undefined;
  return typeof stack === "string" ? stack : undefined;
}

function indent(stack: string): string {
  return stack
    .split("\n")
    .map((line) => `    ${visible(line.trim())}`)
    .join("\n");
}

function word(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@+-]+$/.test(value)) return value;
  return visible(stringifyExact(value) ?? "undefined");
}

/**
 * Line breaks, terminal control codes and bidirectional marks, with which a text could forge lines, control the
 * terminal or reverse the reading direction.
 */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes line breaks, control codes and bidirectional marks in texts from servers and callers. */
function visible(text: string): string {
  return text.replaceAll(UNSAFE, (character) => {
    if (character === "\n") return String.raw`\n`;
    if (character === "\t") return " ";
    const code = character.codePointAt(0)!;
    return code > 0xff ? escaped(character) : `\\x${code.toString(16).padStart(2, "0")}`;
  });
}
