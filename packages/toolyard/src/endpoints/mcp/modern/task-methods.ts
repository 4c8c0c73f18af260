import { isJsonObject, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import { hasTasksExtension, TASKS_EXTENSION, type Tasks, type TaskSnapshot } from "../../../core/ports/tasks.ts";
import { RPC } from "../../../wire/messages.ts";
import type { Envelope } from "../../../wire/modern/envelope.ts";
import { errorAnswer, resultAnswer, type McpAnswer } from "../answers.ts";
import { readTasks } from "../read-tasks.ts";
import type { AdmittedFacts } from "./facts.ts";

/** Returns true if the caller declares the extension in this request. */
export function declaresTasks({ clientCapabilities }: Pick<Envelope, "clientCapabilities">): boolean {
  return hasTasksExtension(clientCapabilities);
}

/** Error for a client that uses tasks without declaring the extension in its request. */
export const UNDECLARED: RpcErrorObject = {
  code: RPC.missingClientCapability,
  message: `Missing required client capabilities: ${TASKS_EXTENSION}`,
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
};

/** Answers a method of the extension. A task of another principal is treated like one that does not exist. */
export async function answerTaskMethod(
  { method, params }: { readonly method: string; readonly params: JsonObject },
  { principal, envelope }: AdmittedFacts,
  tasks: Tasks | undefined,
): Promise<McpAnswer> {
  if (!tasks) return UNKNOWN;
  if (!declaresTasks(envelope)) return { type: "error", error: UNDECLARED };
  const id = stringMember(params, "taskId");
  if (id === undefined) return errorAnswer(RPC.invalidParams, "Invalid params: `taskId` must be a string.");
  const responses = params["inputResponses"];
  if (method === "tasks/update" && !isJsonObject(responses))
    return errorAnswer(RPC.invalidParams, "Invalid params: `inputResponses` must be an object.");
  const lost = await readTasks(tasks, { id, principal });
  if (lost) return lost;
  if (method === "tasks/get") {
    const task = tasks.get(id, principal);
    return task ? resultAnswer({ resultType: "complete", ...wireTask(task) }) : UNKNOWN;
  }
  const isThere =
    method === "tasks/cancel" ? tasks.cancel(id, principal) : tasks.respond(id, principal, responses as JsonObject);
  return isThere ? resultAnswer({ resultType: "complete" }) : UNKNOWN;
}

const UNKNOWN = errorAnswer(
  RPC.invalidParams,
  "Unknown task: there is none with this id for you. It may have been removed after its time (`ttlMs`).",
);

/** Returns the result of a `tools/call` that became a task. The tool's result is read with `tasks/get`. */
export function createdTask(task: TaskSnapshot): JsonObject {
  const { result: _result, error: _error, inputRequests: _requests, ...created } = wireTask(task);
  return { resultType: "task", ...created };
}

/**
 * Returns a task in the form of SEP-2663. Its result always has the form of 2026-07-28, even if a legacy client started
 * the task.
 */
export function wireTask({
  id,
  updatedAt,
  result,
  tool: _tool,
  endpoint: _endpoint,
  ...task
}: TaskSnapshot): JsonObject {
  const end = result && { result: { resultType: "complete", ...result } };
  return { taskId: id, lastUpdatedAt: updatedAt, ...task, ...end };
}
