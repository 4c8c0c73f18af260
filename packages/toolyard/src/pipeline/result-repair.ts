import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import { repairResult, withUri } from "../wire/shapes/results.ts";
import type { PipelineDeps } from "./ports.ts";
import type { CallState } from "./state.ts";

/** Maximum number of different faults that are reported. Further faults are repaired without a report. */
const MAX_REPORTED = 1000;

/**
 * Removes members from results because of which official clients refuse a whole answer. Reports each such member of a
 * target once. A valid result stays the same object.
 */
export class ResultRepair {
  readonly #deps: Pick<PipelineDeps, "logger" | "onProblem">;
  readonly #reported = new Set<string>();

  constructor(deps: Pick<PipelineDeps, "logger" | "onProblem">) {
    this.#deps = deps;
  }

  repaired(state: CallState, given: JsonObject): JsonObject {
    const { target } = state.found;
    const named = target.type === "resource" ? withUri(given, target.uri) : given;
    const plain = target.type === "tool" ? withoutNullContent(named, target.tool) : named;
    const repair = repairResult(state.call.method, plain);
    if (!repair && named === given) return plain;
    for (const { member, reason, remedy } of repair?.faults.list ?? [])
      this.#report(state, member, `${reason}: ${remedy}`);
    if (named !== given) this.#report(state, "contents", "`contents` lacks a `uri`: that of the request is shown");
    return repair?.result ?? plain;
  }

  #report({ found: { provider, name } }: CallState, member: string, what: string): void {
    const { id: source } = provider.source;
    // The index in the path is removed, because it differs from answer to answer.
    const key = `${source} ${name} ${member.replaceAll(/\d+/g, "")}`;
    if (this.#reported.size >= MAX_REPORTED || this.#reported.has(key)) return;
    this.#reported.add(key);
    const message = `Clients would refuse an answer of it. ${what}.`;
    this.#deps.logger.warning(message, { source, target: name });
    this.#deps.onProblem({ source, subject: name, message, repaired: true });
  }
}

/**
 * Removes `structuredContent: null`, which serialisers write for a missing value, unless the tool's output may be
 * `null`.
 */
function withoutNullContent(result: JsonObject, { outputSchema }: ToolRecord): JsonObject {
  if (result["structuredContent"] !== null || (outputSchema && namesNull(outputSchema))) return result;
  const { structuredContent: _none, ...rest } = result;
  return rest;
}

/** Returns true if a schema accepts `null` explicitly. */
function namesNull(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, enum: values, anyOf, oneOf } = schema;
  if (schema["const"] === null || [type].flat().includes("null")) return true;
  if (Array.isArray(values) && values.includes(null)) return true;
  return [anyOf, oneOf].flat().some(namesNull);
}
