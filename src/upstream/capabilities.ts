import { isJsonObject, type JsonObject } from "../core/json.ts";

/** What is declared to a server that many callers share; whoever cannot do one of these refuses when asked. */
export const SHARED_CAPABILITIES: JsonObject = Object.freeze({
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
});

/** What a session's own server is told: what this caller can do, of the things that a server may ask. */
export function sessionCapabilities({ sampling, elicitation, roots }: JsonObject): JsonObject {
  return {
    ...(sampling !== undefined && { sampling }),
    ...(elicitation !== undefined && { elicitation }),
    ...(roots !== undefined && { roots }),
  };
}

/** Whether a caller with these can be asked anything that a server may ask. */
export function canBeAsked({ sampling, elicitation, roots }: JsonObject): boolean {
  return sampling !== undefined || elicitation !== undefined || roots !== undefined;
}

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** What either side declares, without what does not cross the hub: tasks stay between two parties. */
export function passableCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _tasks, extensions, ...rest } = capabilities;
  if (!isJsonObject(extensions)) return rest;
  const { [TASKS_EXTENSION]: _extension, ...others } = extensions;
  return { ...rest, extensions: others };
}
