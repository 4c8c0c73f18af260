import type { JsonObject } from "../core/json.ts";

const MAX_TEXT_CHARS = 2000;
const MAX_STACK_CHARS = 6000;
const MAX_MEMBERS = 50;
const MAX_DEPTH = 5;
const MAX_CAUSES = 4;

/** A copy of facts that JSON can write and a log can bear: bounded in length, breadth and depth; errors with their stack and causes. */
export function boundedFacts(facts: JsonObject): JsonObject {
  return bounded(facts, 0) as JsonObject;
}

export function boundedText(text: string, maxChars = MAX_TEXT_CHARS): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)}… (${text.length - maxChars} more characters)` : text;
}

function bounded(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return boundedText(value);
    case "bigint":
    case "symbol":
    case "function":
      return boundedText(String(value), 100);
    case "object":
      return value === null ? null : boundedObject(value, depth);
    default:
      return value;
  }
}

function boundedObject(value: object, depth: number): unknown {
  if (value instanceof Error) return describeError(value, 0);
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => bounded(item, depth + 1));
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  return Object.fromEntries(members.map(([name, member]) => [boundedText(name, 100), bounded(member, depth + 1)]));
}

function describeError(error: Error, depth: number): JsonObject {
  const { name, message, stack, cause } = error;
  return {
    name: String(name),
    message: boundedText(String(message)),
    ...(typeof stack === "string" ? { stack: boundedText(stack, MAX_STACK_CHARS) } : {}),
    ...(cause === undefined ? {} : { cause: describeCause(cause, depth + 1) }),
  };
}

function describeCause(cause: unknown, depth: number): unknown {
  if (depth > MAX_CAUSES) return "…";
  return cause instanceof Error ? describeError(cause, depth) : bounded(cause, MAX_DEPTH - 1);
}
