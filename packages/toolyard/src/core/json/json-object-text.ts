import { isDeeperThan } from "./json-depth.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

/** Maximum nesting in a response of a token endpoint or of an identity provider. */
const MAX_DEPTH = 20;

/**
 * Parses a short JSON object from a service that is not a tool, such as a token endpoint. Returns `undefined` for any
 * other text, so that the caller never quotes the text in a message. Integers beyond 2^53 are rounded.
 */
export function parseJsonObject(text: string): JsonObject | undefined {
  if (isDeeperThan(text, MAX_DEPTH)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
