import { parseExact, stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, stringMember, type JsonObject } from "../core/json/json.ts";
import type { WantedCall } from "./reply.ts";

/** A model's decision in JSON. */
export type Decision =
  | { readonly action: "call"; readonly calls: readonly WantedCall[] }
  | { readonly action: "clarify"; readonly question: string }
  | { readonly action: "final"; readonly answer: string }
  | { readonly action: "none" };

const NONE: Decision = { action: "none" };

/**
 * Parses the decision in a reply: an object alone, in a code fence, or surrounded by text. `idOf` returns the ids of
 * the calls.
 */
export function parseDecision(text: string, idOf: (index: number) => string): Decision {
  for (const candidate of candidatesIn(text)) {
    const decision = toDecision(candidate, idOf);
    if (decision.action !== "none") return decision;
  }
  return NONE;
}

function toDecision(object: JsonObject, idOf: (index: number) => string): Decision {
  const action = stringMember(object, "action");
  const answer = object["answer"] ?? object["final_answer"];
  if (action === "final_answer" && answer !== undefined)
    return { action: "final", answer: typeof answer === "string" ? answer : stringifyExact(answer) };
  const question = stringMember(object, "question");
  if (action === "clarify" && question !== undefined) return { action: "clarify", question };
  if (action === "call_tool") return toCalls([object], idOf);
  return action === "call_tools" && Array.isArray(object["calls"]) ? toCalls(object["calls"], idOf) : NONE;
}

function toCalls(entries: readonly unknown[], idOf: (index: number) => string): Decision {
  const calls: WantedCall[] = [];
  for (const entry of entries) {
    const name = isJsonObject(entry)
      ? (stringMember(entry, "tool") ?? stringMember(entry, "tool_name") ?? stringMember(entry, "name"))
      : undefined;
    if (name === undefined || !isJsonObject(entry)) return NONE;
    const given = entry["arguments"] ?? entry["params"] ?? {};
    calls.push({
      id: idOf(calls.length),
      name,
      ...(isJsonObject(given) ? { arguments: given } : { received: stringifyExact(given) }),
    });
  }
  return calls.length === 0 ? NONE : { action: "call", calls };
}

/** Maximum number of opening braces that are tried as the start of an object. Decisions after them are not found. */
const MAX_STARTS = 32;

function* candidatesIn(text: string): Generator<JsonObject> {
  const whole = parseObject(text.trim());
  if (whole) return yield whole;
  let start = text.indexOf("{");
  for (let tries = 0; start !== -1 && tries < MAX_STARTS; tries += 1) {
    const end = endOfObject(text, start);
    const object = end === -1 ? undefined : parseObject(text.slice(start, end));
    if (object) yield object;
    start = text.indexOf("{", object ? end : start + 1);
  }
}

/** Returns the end of the object that starts at `start`, ignoring braces in strings; -1 if it does not end. */
function endOfObject(text: string, start: number): number {
  let [depth, isInString] = [0, false];
  for (let index = start; index < text.length; index += 1) {
    const char = text[index];
    if (isInString) {
      if (char === "\\") index += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === "{") depth += 1;
    else if (char === "}" && (depth -= 1) === 0) return index + 1;
  }
  return -1;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = parseExact(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
