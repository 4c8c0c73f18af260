import type { Call } from "../../core/calls/call.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { SearchHit } from "../../core/ports/ports.ts";
import { within } from "../../core/timing/wait.ts";
import type { BuiltinPorts } from "./ports.ts";

/** Maximum number of names in a failure. */
const MAX_NAMES = 3;
/** Maximum length of a name; longer ones are omitted. */
const MAX_NAME_CHARS = 200;
/** Minimum score at which a tool counts as similar to the failed one. */
const LEAST_SCORE = 0.4;
/** Maximum time in milliseconds for which the answer to a failed call waits for names. */
const NAMES_WAIT_MS = 300;
/** Maximum number of tools of a server whose schemas are checked. */
const MAX_SIBLINGS = 100;

export interface FailedBuiltinCall {
  /** Name of the called tool as requested. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly failure: Fail;
}

/**
 * Returns names of tools for a missing name: tools with similar names, or else tools that the search finds with the
 * words of the name.
 */
export async function namesNear(
  { name, failure }: FailedBuiltinCall,
  call: Call,
  ports: BuiltinPorts,
): Promise<string[]> {
  const near = failure.details?.["near"];
  if (Array.isArray(near) && near.length > 0) return near.slice(0, MAX_NAMES).map(String);
  const { hits } = await ports.innerHub.search(wordsOf(name), call, { limit: MAX_NAMES });
  return hits.map((hit) => hit.name);
}

/**
 * Returns the names of tools that are similar to the tool of a failed call and that the caller may use. The search uses
 * the words of the tool's name. Returns none if the search takes too long.
 */
export async function namesBeside({ name }: FailedBuiltinCall, call: Call, ports: BuiltinPorts): Promise<string[]> {
  const called = ports.resolveName(name, call) ?? name;
  const search = ports.innerHub.search(wordsOf(called), call, { limit: MAX_NAMES + 1 });
  // Names are only hints, so a failed search must not replace the failure of the call.
  const answer = await within(search, NAMES_WAIT_MS).catch(() => undefined);
  return (answer?.hits ?? [])
    .filter((hit) => hit.name !== called && hit.score >= LEAST_SCORE && hit.name.length <= MAX_NAME_CHARS)
    .slice(0, MAX_NAMES)
    .map((hit) => hit.name);
}

/**
 * Returns tools of the same server that accept the rejected arguments. Tools without parameters, and tools that accept
 * anything, are omitted, because they match all arguments.
 */
export async function siblingsThatFit(failed: FailedBuiltinCall, call: Call, ports: BuiltinPorts): Promise<string[]> {
  const called = ports.resolveName(failed.name, call);
  if (called === undefined || Object.keys(failed.arguments).length === 0) return [];
  const { hits: own } = await ports.innerHub.search(called, call, { limit: 1 });
  const server = own[0]?.name === called ? own[0].server : undefined;
  if (server === undefined) return [];
  const { hits } = await ports.innerHub.search("", call, { limit: MAX_SIBLINGS, server });
  const fitting = hits.filter((hit) => hit.name !== called && fits(hit, failed.arguments));
  return fitting.slice(0, MAX_NAMES).map((hit) => hit.name);
}

function fits({ inputSchema }: SearchHit, args: JsonObject): boolean {
  const properties = objectMember(inputSchema, "properties") ?? {};
  const { required } = inputSchema;
  const isWhole =
    !Array.isArray(required) || required.every((name) => typeof name === "string" && Object.hasOwn(args, name));
  return (
    isWhole &&
    Object.entries(args).every(([name, value]) => Object.hasOwn(properties, name) && hasType(properties[name], value))
  );
}

/**
 * Returns whether a value has the type that a schema names. If the schema names no type, or several, every value is
 * accepted.
 */
function hasType(schema: unknown, value: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const { type } = schema;
  if (typeof type !== "string") return true;
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  return type === "null" ? value === null : typeof value === type;
}

/** Converts a name to a search query. */
function wordsOf(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]+/gu, " ");
}
