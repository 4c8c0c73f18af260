import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { TASKS_EXTENSION } from "../../core/ports/tasks.ts";

/** Capabilities declared to a server that many callers share. A caller that lacks one refuses the server request. */
export const SHARED_CAPABILITIES: JsonObject = Object.freeze({
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
});

/** Returns the capabilities declared to a session's own server: those of the caller that a server can use. */
export function sessionCapabilities({ sampling, elicitation, roots }: JsonObject): JsonObject {
  return {
    ...(sampling !== undefined && { sampling }),
    ...(elicitation !== undefined && { elicitation }),
    ...(roots !== undefined && { roots }),
  };
}

/** Returns whether a caller with these capabilities can answer any kind of server request. */
export function canBeAsked({ sampling, elicitation, roots }: JsonObject): boolean {
  return sampling !== undefined || elicitation !== undefined || roots !== undefined;
}

/**
 * Returns the parameters of a request without `task`, which is for one connection only: the hub itself decides whether
 * a call to a server is a task (2025-11-25, Tasks).
 */
export function withoutTask(params: JsonObject): JsonObject {
  if (!Object.hasOwn(params, "task")) return params;
  const { task: _task, ...rest } = params;
  return rest;
}

/**
 * Returns the declared capabilities except those that the hub does not pass on, such as tasks, which belong to one
 * connection.
 */
export function passableCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _tasks, extensions, ...rest } = capabilities;
  if (!isJsonObject(extensions)) return rest;
  const { [TASKS_EXTENSION]: _extension, ...others } = extensions;
  return { ...rest, extensions: others };
}

/** Adds the extension for tasks to capabilities, because the hub follows a task for its caller. */
export function withTasksExtension(capabilities: JsonObject): JsonObject {
  return { ...capabilities, extensions: { ...objectMember(capabilities, "extensions"), [TASKS_EXTENSION]: {} } };
}
