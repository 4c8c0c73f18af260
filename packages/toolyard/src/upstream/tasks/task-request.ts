import type { Call } from "../../core/calls/call.ts";
import { ok, type Outcome } from "../../core/calls/outcome.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { RpcReply } from "../../wire/messages.ts";
import { toOutcome } from "../connection/answers.ts";
import type { CallRequest } from "../connection/connection.ts";
import type { Era } from "../connection/era.ts";

/** Time in milliseconds for which a server keeps the result for the hub, which reads it when the task ends. */
const TTL_MS = 60 * 60_000;

/** `resultType` of a result that is a task (SEP-2663). */
export const TASK_RESULT = "task";

/**
 * Returns the request with `task` if the server runs calls as tasks by 2025-11-25, and if the tool requires it, or
 * accepts it and the caller may get a task. Returns the same request otherwise. Since 2026-07-28 the server decides.
 */
export function withTask({ taskOffer }: Pick<Call, "taskOffer">, request: CallRequest, era: Era): CallRequest {
  const { taskSupport } = request.execution ?? {};
  const isWanted = taskSupport === "required" || (taskSupport === "optional" && taskOffer !== undefined);
  if (!isWanted || era.name !== "legacy" || !runsTasks(era.capabilities)) return request;
  return { ...request, params: { ...request.params, task: { ttl: TTL_MS } }, readReply: readCreatedTask };
}

function runsTasks(capabilities: JsonObject): boolean {
  const requests = objectMember(objectMember(capabilities, "tasks") ?? {}, "requests") ?? {};
  return objectMember(objectMember(requests, "tools") ?? {}, "call") !== undefined;
}

/** Converts a task of 2025-11-25 into the form of SEP-2663. A server may also answer with the tool's result. */
function readCreatedTask(method: Call["method"], reply: RpcReply): Outcome {
  const task = "result" in reply ? reply.result["task"] : undefined;
  return isJsonObject(task) ? ok({ ...task, resultType: TASK_RESULT }) : toOutcome(method, reply);
}
