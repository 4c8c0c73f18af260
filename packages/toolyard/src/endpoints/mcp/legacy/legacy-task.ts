import { isJsonObject, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { StartedCall, TaskSnapshot } from "../../../core/ports/tasks.ts";
import { RPC } from "../../../wire/messages.ts";
import { errorAnswer, resultAnswer, type McpAnswer } from "../answers.ts";

/** Number of tasks in one page of `tasks/list`. */
const PAGE_SIZE = 100;

/** Returns a task in the form of 2025-11-25, in which a tool's own error is a failed task. */
export function legacyTask(task: TaskSnapshot): JsonObject {
  const { id, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs, result } = task;
  const isToolError = status === "completed" && result?.["isError"] === true;
  return {
    taskId: id,
    status: isToolError ? "failed" : status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt: updatedAt,
    ttl: ttlMs,
    pollInterval: pollIntervalMs,
  };
}

/** Returns one page of the tasks. The cursor is the id of the last task of the page before. */
export function taskPage(tasks: readonly TaskSnapshot[], cursor: unknown): McpAnswer {
  const last = cursor === undefined || cursor === null ? -1 : tasks.findIndex(({ id }) => id === cursor);
  if (last < 0 && cursor !== undefined && cursor !== null)
    return errorAnswer(RPC.invalidParams, "Invalid cursor: list the tasks again without a cursor.");
  const page = tasks.slice(last + 1, last + 1 + PAGE_SIZE);
  const hasMore = last + 1 + PAGE_SIZE < tasks.length;
  return resultAnswer({ tasks: page.map(legacyTask), ...(hasMore && { nextCursor: page.at(-1)!.id }) });
}

/** Returns the call that shall become a task, or the problem of its parameters. */
export function readTaskCall(
  params: JsonObject,
): Pick<StartedCall, "tool" | "arguments" | "ttlMs"> | { readonly problem: string } {
  const tool = stringMember(params, "name");
  const args = params["arguments"] ?? {};
  const { task } = params;
  if (tool === undefined) return { problem: "`name` must be a string" };
  if (!isJsonObject(args)) return { problem: "`arguments` must be an object" };
  if (!isJsonObject(task)) return { problem: "`task` must be an object" };
  const ttl = task["ttl"] ?? undefined;
  if (ttl === undefined) return { tool, arguments: args };
  if (typeof ttl === "number" && ttl >= 0) return { tool, arguments: args, ttlMs: ttl };
  return { problem: "`task.ttl` must be a number of milliseconds" };
}
