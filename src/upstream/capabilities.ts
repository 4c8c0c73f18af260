import type { JsonObject } from "../core/json.ts";

/** What is declared to a server that many callers share; whoever cannot do one of these refuses when asked. */
export const SHARED_CAPABILITIES: JsonObject = Object.freeze({
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
});

/** What a session's own server is told: what this caller can do, of the things that a server may ask. */
export function sessionCapabilities({ sampling, elicitation, roots }: JsonObject): JsonObject {
  return { ...(sampling !== undefined && { sampling }), ...(elicitation !== undefined && { elicitation }), ...(roots !== undefined && { roots }) };
}
