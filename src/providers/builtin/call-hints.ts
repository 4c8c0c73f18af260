import type { Call } from "../../core/call.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json.ts";
import type { Fail } from "../../core/outcome.ts";
import type { SearchHit } from "../../core/ports.ts";
import type { BuiltinPorts } from "./ports.ts";

/** Names that a failure tells. */
const MAX_NAMES = 3;
/** Tools of a server that arguments are held against. */
const MAX_SIBLINGS = 100;

export interface FailedCall {
  /** As it was asked for. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly failure: Fail;
}

/**
 * Names of tools that are like one that is not there: those that are written alike, else those that do what its name
 * says.
 */
export async function namesNear({ name, failure }: FailedCall, call: Call, ports: BuiltinPorts): Promise<string[]> {
  const near = failure.details?.["near"];
  if (Array.isArray(near) && near.length > 0) return near.slice(0, MAX_NAMES).map(String);
  const { hits } = await ports.innerHub.search(wordsOf(name), call, { limit: MAX_NAMES });
  return hits.map((hit) => hit.name);
}

/**
 * Tools of the same server that take arguments which this one refused. A tool that takes anything, and one without
 * arguments, tells nothing.
 */
export async function siblingsThatFit(failed: FailedCall, call: Call, ports: BuiltinPorts): Promise<string[]> {
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
  const isWhole = !Array.isArray(required) || required.every((name) => typeof name === "string" && name in args);
  return isWhole && Object.entries(args).every(([name, value]) => hasType(properties[name], value));
}

/** Whether a value is of the one type that a schema names; a schema that names none takes all. */
function hasType(schema: unknown, value: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const { type } = schema;
  if (typeof type !== "string") return true;
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  return type === "null" ? value === null : typeof value === type;
}

/** A name as a query. */
function wordsOf(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]+/gu, " ");
}
