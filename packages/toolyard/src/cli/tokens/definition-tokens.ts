import { stringifyExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { estimateTokens } from "../../core/text/token-estimate.ts";

/** Estimates the tokens of a tool in a client's list: of the part of its definition that clients pass to the model. */
export function definitionTokens({ name, description, inputSchema }: JsonObject): number {
  return estimateTokens(stringifyExact({ name, description, input_schema: inputSchema }));
}

/** Estimates the tokens of a list of tools. */
export function listTokens(entries: readonly JsonObject[]): number {
  return entries.reduce((sum, entry) => sum + definitionTokens(entry), 0);
}
