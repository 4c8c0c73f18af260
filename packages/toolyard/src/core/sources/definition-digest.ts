import { isDeepStrictEqual } from "node:util";
import { canonicalJson, contentDigest } from "../json/digest.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";

/**
 * Members of a tool that users or models see, in the hub or later in a client: its name, texts, schemas, annotations,
 * icons, and data for programs that display it (`_meta`: a page, a hint). Other members may change without a new
 * digest.
 */
const SHOWN = ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"];
/** Members covered by digests without a version. */
const SHOWN_AT_FIRST = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
/** Version prefix of each digest, which distinguishes digests of different rules. */
const VERSION = "2:";

/**
 * Returns the digest of a tool's visible members, independent of member order and era. It starts with the version of
 * its rule.
 */
export function definitionDigest(definition: JsonObject): string {
  return `${VERSION}${digestOf(definition, SHOWN)}`;
}

/**
 * Compares a tool with a pinned digest. Returns `old` if only the old digest rule, which omits icons and `_meta`,
 * matches.
 */
export function matchesPin(definition: JsonObject, pin: string): "yes" | "old" | "no" {
  if (pin === definitionDigest(definition)) return "yes";
  return pin === digestOf(definition, SHOWN_AT_FIRST) ? "old" : "no";
}

/**
 * Returns the part of a pinned tool that may be shown: the members that its digest covers, and those that only programs
 * read. Digests do not cover an output schema that only one era can express.
 */
export function coveredBy(definition: JsonObject): JsonObject {
  const covered: JsonObject = {};
  for (const [member, value] of Object.entries(definition)) {
    const isCovered = SHOWN.includes(member) && (member !== "outputSchema" || outputOfBothEras(value) !== undefined);
    if (isCovered || (member === "execution" && isExecution(value))) covered[member] = value;
  }
  return Object.keys(covered).length === Object.keys(definition).length ? definition : covered;
}

/** Returns true if `execution` has the protocol's form: one known keyword and nothing else. */
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

// Returns an output schema that both eras can express, otherwise `undefined`. In the legacy era, structured content
// must be an object, so the hub omits or wraps other schemas.
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

/**
 * Returns true if two definitions differ. Compares the members, because digests cost many times as much and most tools
 * are unchanged.
 */
function isChanged(before: JsonObject, after: JsonObject): boolean {
  const shown = (definition: JsonObject, member: string): unknown => shownOf(definition, member) ?? null;
  return SHOWN.some((member) => !isDeepStrictEqual(shown(before, member), shown(after, member)));
}

/** Returns the names of tools that are in both lists with different definitions. */
export function changedTools(before: readonly JsonObject[], after: readonly JsonObject[]): string[] {
  const known = new Map(before.map((definition) => [definition["name"], definition]));
  return after
    .filter((definition) => {
      const old = known.get(definition["name"]);
      return old !== undefined && isChanged(old, definition);
    })
    .map(({ name }) => String(name));
}
