import { isDeepStrictEqual } from "node:util";
import { canonicalJson, contentDigest } from "../json/digest.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";

/**
 * What a person or a model is shown of a tool, now by the hub or later by a client: its name, its texts, its schemas,
 * what it says it does, its pictures, and what it tells programs that show it (`_meta`: a page of its own, a hint).
 * What is not in the protocol may change as it likes.
 */
const SHOWN = ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"];
/** What digests without a version cover. */
const SHOWN_AT_FIRST = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
/** Begins each digest, so that one of an older rule is known as such. */
const VERSION = "2:";

/**
 * The fingerprint of all that is shown of a tool, whatever the order in which it is said and the era in which it is
 * read. It begins with the version of its rule.
 */
export function definitionDigest(definition: JsonObject): string {
  return `${VERSION}${digestOf(definition, SHOWN)}`;
}

/**
 * Whether a tool is as a pinned digest approved it. `old`: by the rule of a pin without a version, which leaves out
 * pictures and `_meta`.
 */
export function matchesPin(definition: JsonObject, pin: string): "yes" | "old" | "no" {
  if (pin === definitionDigest(definition)) return "yes";
  return pin === digestOf(definition, SHOWN_AT_FIRST) ? "old" : "no";
}

/**
 * What may be shown of a tool that is pinned: what its digest covers, and what programs alone read. A list read in one
 * era may hold an output that the other cannot say; no digest covers that.
 */
export function coveredBy(definition: JsonObject): JsonObject {
  const covered: JsonObject = {};
  for (const [member, value] of Object.entries(definition)) {
    const isCovered = SHOWN.includes(member) && (member !== "outputSchema" || outputOfBothEras(value) !== undefined);
    if (isCovered || (member === "execution" && isExecution(value))) covered[member] = value;
  }
  return Object.keys(covered).length === Object.keys(definition).length ? definition : covered;
}

/** As the protocol has it: one word, and room for no other. */
function isExecution(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { taskSupport, ...others } = value;
  return TASK_SUPPORT.includes(taskSupport) && Object.keys(others).length === 0;
}

const TASK_SUPPORT: readonly unknown[] = ["forbidden", "optional", "required"];

function digestOf(definition: JsonObject, members: readonly string[]): string {
  const shown = members.map((member) => shownOf(definition, member) ?? null);
  return contentDigest(canonicalJson(shown));
}

function shownOf(definition: JsonObject, member: string): unknown {
  return member === "outputSchema" ? outputOfBothEras(definition[member]) : definition[member];
}

// The legacy era has no structured content that is no object: there its schema is missing, or wrapped.
function outputOfBothEras(schema: unknown): unknown {
  if (!isJsonObject(schema) || schema["type"] !== "object") return undefined;
  const { properties, required } = schema;
  const isWrapper =
    isJsonObject(properties) &&
    Object.keys(properties).join() === "result" &&
    Array.isArray(required) &&
    required.join() === "result";
  const result = isWrapper ? properties["result"] : undefined;
  return isJsonObject(result) && result["type"] !== "object" ? undefined : schema;
}

/** Whether digests of them would differ; these cost many times as much, and most tools are as they were. */
function isChanged(before: JsonObject, after: JsonObject): boolean {
  const shown = (definition: JsonObject, member: string): unknown => shownOf(definition, member) ?? null;
  return SHOWN.some((member) => !isDeepStrictEqual(shown(before, member), shown(after, member)));
}

/** Tools that both lists have and that say something else of themselves in the second. */
export function changedTools(before: readonly JsonObject[], after: readonly JsonObject[]): string[] {
  const known = new Map(before.map((definition) => [definition["name"], definition]));
  return after
    .filter((definition) => {
      const old = known.get(definition["name"]);
      return old !== undefined && isChanged(old, definition);
    })
    .map(({ name }) => String(name));
}
