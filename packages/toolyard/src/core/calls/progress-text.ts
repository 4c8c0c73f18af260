import { stringMember, type JsonObject } from "../json/json.ts";

/** Returns the text of a progress notification: its message, or its numbers. Returns `undefined` if it has neither. */
export function progressText(params: JsonObject): string | undefined {
  const message = stringMember(params, "message");
  if (message !== undefined) return message;
  const { progress, total } = params;
  if (typeof progress !== "number") return undefined;
  return typeof total === "number" ? `${progress} of ${total}` : String(progress);
}
