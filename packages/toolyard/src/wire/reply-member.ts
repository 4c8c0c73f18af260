import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/**
 * Returns which of `result` and `error` a reply has; only this function decides that. Many libraries serialise both
 * members and leave the unused one at its default. An `error` without content (`null`, `false`, `0`, `""`, `{}`, `[]`)
 * therefore counts as absent. An `error` with content has precedence over a `result`: a failure must not be read as a
 * success.
 */
export function replyMember(reply: JsonObject): "result" | "error" | undefined {
  if (hasContent(reply["error"])) return "error";
  return reply["result"] === undefined ? undefined : "result";
}

function hasContent(error: unknown): boolean {
  if (Array.isArray(error)) return error.length > 0;
  return isJsonObject(error) ? Object.keys(error).length > 0 : Boolean(error);
}
