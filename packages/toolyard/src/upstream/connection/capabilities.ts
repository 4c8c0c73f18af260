import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

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

/**
 * Parameters of a request without `task`. The hub declares no tasks to either side, and a receiver that declares none
 * must ignore the member (2025-11-25, Tasks).
 */
export function withoutTask(params: JsonObject): JsonObject {
  if (!Object.hasOwn(params, "task")) return params;
  const { task: _task, ...rest } = params;
  return rest;
}

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** What either side declares, without what does not cross the hub: tasks stay between two parties. */
export function passableCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _tasks, extensions, ...rest } = capabilities;
  if (!isJsonObject(extensions)) return rest;
  const { [TASKS_EXTENSION]: _extension, ...others } = extensions;
  return { ...rest, extensions: others };
}
