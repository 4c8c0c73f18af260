import type { JsonObject } from "../core/json/json.ts";
import { firstChars } from "../core/text/truncate.ts";

const MAX_TEXT_CHARS = 2000;
const MAX_STACK_CHARS = 6000;
const MAX_MEMBERS = 50;
const MAX_DEPTH = 5;
const MAX_CAUSES = 4;

/**
 * Number of characters beyond the limit that are redacted too: a secret that is cut by the limit would not be
 * recognised.
 */
const SLACK_CHARS = 4096;

/** Removes secrets from a text. */
type Clean = (text: string) => string;

/**
 * Returns a copy of log facts that JSON can represent, limited in length, breadth and depth. Errors become their stack
 * and causes. Texts are redacted before they are truncated.
 */
export function boundedFacts(facts: JsonObject, clean: Clean): JsonObject {
  return bounded(facts, clean, 0) as JsonObject;
}

export function boundedText(text: string, clean: Clean, maxChars = MAX_TEXT_CHARS): string {
  const cleaned = clean(firstChars(text, maxChars + SLACK_CHARS));
  return text.length > maxChars
    ? `${firstChars(cleaned, maxChars)}… (${text.length - maxChars} more characters)`
    : cleaned;
}

function bounded(value: unknown, clean: Clean, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return boundedText(value, clean);
    case "bigint":
    case "symbol":
    case "function":
      return boundedText(String(value), clean, 100);
    case "object":
      return value === null ? null : boundedObject(value, clean, depth);
    default:
      return value;
  }
}

function boundedObject(value: object, clean: Clean, depth: number): unknown {
  if (value instanceof Error) return describeError(value, clean, 0);
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => bounded(item, clean, depth + 1));
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  return Object.fromEntries(
    members.map(([name, member]) => [boundedText(name, clean, 100), bounded(member, clean, depth + 1)]),
  );
}

function describeError(error: Error, clean: Clean, depth: number): JsonObject {
  const { name, message, stack, cause } = error;
  return {
    name: String(name),
    message: boundedText(String(message), clean),
    ...(typeof stack === "string" ? { stack: boundedText(stack, clean, MAX_STACK_CHARS) } : {}),
    ...(cause === undefined ? {} : { cause: describeCause(cause, clean, depth + 1) }),
  };
}

function describeCause(cause: unknown, clean: Clean, depth: number): unknown {
  if (depth > MAX_CAUSES) return "…";
  return cause instanceof Error ? describeError(cause, clean, depth) : bounded(cause, clean, MAX_DEPTH - 1);
}
