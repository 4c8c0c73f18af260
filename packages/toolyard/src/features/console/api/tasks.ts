import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { TaskSnapshot } from "../../../core/ports/tasks.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ConsoleParts } from "../parts.ts";
import type { ScheduleRow, TaskDetail, TaskRow } from "../task-types.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

/** Server requests that the page can answer with a form. */
const CAPABILITIES: JsonObject = { elicitation: {} };

/** Returns the routes of the caller's own tasks, and of the schedules. */
export function taskRoutes(parts: Pick<ConsoleParts, "tasks" | "schedules" | "redactFacts">): readonly AdminRoute[] {
  return [...ownTasks(parts), ...schedules(parts)];
}

function ownTasks({ tasks }: Pick<ConsoleParts, "tasks">): readonly AdminRoute[] {
  const find = (id: string, { caller }: AdminRequest): TaskDetail => {
    const task = tasks.get(id, caller.principal);
    if (!task) throw noTask();
    return toDetail(task);
  };
  const start = async ({ exchange, caller: { principal } }: AdminRequest): Promise<TaskDetail> => {
    const body = await exchange.readObject("`tool` and `arguments`");
    const tool = stringMember(body, "tool") ?? "";
    const args = objectMember(body, "arguments") ?? {};
    const call = { principal, endpoint: "console", tool, arguments: args, capabilities: CAPABILITIES };
    return toDetail(await tasks.start(call));
  };
  const answer = async (request: AdminRequest): Promise<TaskDetail> => {
    const id = request.names[0]!;
    const responses = await request.exchange.readObject("the answers by key");
    if (!Object.values(responses).every(isJsonObject))
      throw new Refusal(400, 'Each answer must be an object, such as {"action": "accept", "content": {}}.');
    await tasks.ready();
    if (!tasks.respond(id, request.caller.principal, responses)) throw noTask();
    return find(id, request);
  };
  return [
    {
      method: "GET",
      path: "tasks",
      needs: "any",
      summary: "The caller's own tasks, newest first.",
      handle: async ({ caller }) => {
        await tasks.ready();
        return { tasks: tasks.list(caller.principal).map(toRow) };
      },
    },
    { method: "POST", path: "tasks", needs: "any", summary: "Calls `tool` as a task.", handle: start },
    {
      method: "GET",
      path: "tasks/*",
      needs: "any",
      summary: "One task, with its result.",
      handle: async (request) => {
        await tasks.ready();
        return find(request.names[0]!, request);
      },
    },
    {
      method: "POST",
      path: "tasks/*/input",
      needs: "any",
      summary: "Answers the server requests of a task, by key.",
      handle: answer,
    },
    {
      method: "DELETE",
      path: "tasks/*",
      needs: "any",
      summary: "Cancels a task.",
      handle: async (request) => {
        await tasks.ready();
        if (!tasks.cancel(request.names[0]!, request.caller.principal)) throw noTask();
        return find(request.names[0]!, request);
      },
    },
  ];
}

/**
 * Schedules have the rights of the hub's owner. As at `/status/schedules`, they are shown and started for callers
 * without narrowed rights.
 */
function schedules({
  schedules: table,
  redactFacts,
}: Pick<ConsoleParts, "schedules" | "redactFacts">): readonly AdminRoute[] {
  const shown = (row: ScheduleRow): unknown => redactFacts({ ...row });
  const find = async ({ names: [name = ""] }: AdminRequest): Promise<unknown> => {
    const found = (await table.list()).find((one) => one.name === name);
    if (!found) throw noSchedule(name);
    return shown({ ...found, runs: found.runs.map(toDetail) });
  };
  return [
    {
      method: "GET",
      path: "schedules",
      needs: "all",
      summary: "The schedules with the state of their runs.",
      handle: async () => ({
        schedules: (await table.list()).map((one) => shown({ ...one, runs: one.runs.map(toRow) })),
      }),
    },
    {
      method: "GET",
      path: "schedules/*",
      needs: "all",
      summary: "One schedule, with the results of its runs.",
      handle: find,
    },
    {
      method: "POST",
      path: "schedules/*",
      needs: "all",
      summary: "Starts a run of a schedule now.",
      action: "run",
      handle: async ({ names: [name = ""] }) => {
        const task = await table.run(name);
        if (!task) throw noSchedule(name);
        return redactFacts({ ...toDetail(task) });
      },
    },
    {
      method: "DELETE",
      path: "schedules/*",
      needs: "all",
      summary: "Cancels the unfinished runs of a schedule.",
      action: "cancel",
      handle: async ({ names: [name = ""] }) => {
        const cancelled = await table.cancel(name);
        if (cancelled === undefined) throw noSchedule(name);
        return { cancelled };
      },
    },
  ];
}

function toRow({ result, ...task }: TaskSnapshot): TaskRow {
  const { id, status, statusMessage, tool, endpoint, createdAt, updatedAt } = task;
  const isError = result?.["isError"] === true;
  return {
    id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    tool,
    endpoint,
    createdAt,
    updatedAt,
    isError,
  };
}

function toDetail(task: TaskSnapshot): TaskDetail {
  const { inputRequests, result, error } = task;
  return {
    ...toRow(task),
    ...(inputRequests && { inputRequests: inputRequests as Readonly<Record<string, JsonObject>> }),
    ...(result && { result }),
    ...(error && { error: { code: error.code, message: error.message } }),
  };
}

function noTask(): Refusal {
  return new Refusal(404, "There is no such task for you. It may have been removed after its time.");
}

function noSchedule(name: string): Refusal {
  return new Refusal(404, `There is no schedule ${JSON.stringify(name)}. \`GET /api/admin/schedules\` lists them.`);
}
