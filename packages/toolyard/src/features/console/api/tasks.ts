import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { TaskSnapshot } from "../../../core/ports/tasks.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ConsoleParts } from "../parts.ts";
import type { ScheduleRow, TaskDetail, TaskRow } from "../task-types.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

/** Server requests that the page can answer with a form. */
const CAPABILITIES: JsonObject = { elicitation: {} };
/** Maximum length of a status message. */
const MAX_MESSAGE_CHARS = 2000;

type TaskParts = Pick<ConsoleParts, "tasks" | "schedules" | "redactFacts">;

/** Shows, starts and cancels the caller's own tasks, and the runs of schedules. */
export class WorkRoutes {
  readonly #parts: TaskParts;

  constructor(parts: TaskParts) {
    this.#parts = parts;
  }

  get routes(): readonly AdminRoute[] {
    return [...this.#taskRoutes, ...this.#scheduleRoutes];
  }

  get #taskRoutes(): readonly AdminRoute[] {
    const needs = "any";
    return [
      {
        method: "GET",
        path: "tasks",
        needs,
        summary: "The caller's own tasks, newest first.",
        handle: ({ caller }) => this.#list(caller),
      },
      {
        method: "POST",
        path: "tasks",
        needs,
        summary: "Calls `tool` as a task.",
        handle: (request) => this.#start(request),
      },
      {
        method: "GET",
        path: "tasks/*",
        needs,
        summary: "One task, with its result.",
        handle: (request) => this.#find(request),
      },
      {
        method: "POST",
        path: "tasks/*/input",
        needs,
        summary: "Answers the server requests of a task, by key.",
        handle: (request) => this.#answer(request),
      },
      {
        method: "DELETE",
        path: "tasks/*",
        needs,
        summary: "Cancels a task.",
        handle: (request) => this.#cancel(request),
      },
    ];
  }

  /**
   * Schedules have the rights of the hub's owner. As at `/status/schedules`, they are shown and started for callers
   * without narrowed rights.
   */
  get #scheduleRoutes(): readonly AdminRoute[] {
    const needs = "all";
    return [
      {
        method: "GET",
        path: "schedules",
        needs,
        summary: "The schedules with the state of their runs.",
        handle: () => this.#schedules(),
      },
      {
        method: "GET",
        path: "schedules/*",
        needs,
        summary: "One schedule, with the results of its runs.",
        handle: ({ names }) => this.#schedule(names[0]!),
      },
      {
        method: "POST",
        path: "schedules/*",
        needs,
        summary: "Starts a run of a schedule now.",
        action: "run",
        handle: ({ names }) => this.#run(names[0]!),
      },
      {
        method: "DELETE",
        path: "schedules/*",
        needs,
        summary: "Cancels the unfinished runs of a schedule.",
        action: "cancel",
        handle: ({ names }) => this.#cancelRuns(names[0]!),
      },
    ];
  }

  async #list({ principal }: AdminRequest["caller"]): Promise<{ readonly tasks: readonly TaskRow[] }> {
    await this.#parts.tasks.ready({ principal });
    return { tasks: this.#parts.tasks.list(principal).map(toRow) };
  }

  async #find({ names: [id = ""], caller }: AdminRequest): Promise<TaskDetail> {
    await this.#parts.tasks.ready({ id, principal: caller.principal });
    const task = this.#parts.tasks.get(id, caller.principal);
    if (!task) throw noTask();
    return toDetail(task);
  }

  async #start({ exchange, caller: { principal } }: AdminRequest): Promise<TaskDetail> {
    const body = await exchange.readObject("`tool` and `arguments`");
    const tool = stringMember(body, "tool") ?? "";
    const args = objectMember(body, "arguments") ?? {};
    const call = { principal, endpoint: "console", tool, arguments: args, capabilities: CAPABILITIES };
    return toDetail(await this.#parts.tasks.start(call));
  }

  async #answer(request: AdminRequest): Promise<TaskDetail> {
    const responses = await request.exchange.readObject("the answers by key");
    if (!Object.values(responses).every(isJsonObject))
      throw new Refusal(400, 'Each answer must be an object, such as {"action": "accept", "content": {}}.');
    await this.#find(request);
    this.#parts.tasks.respond(request.names[0]!, request.caller.principal, responses);
    return this.#find(request);
  }

  async #cancel(request: AdminRequest): Promise<TaskDetail> {
    await this.#find(request);
    this.#parts.tasks.cancel(request.names[0]!, request.caller.principal);
    return this.#find(request);
  }

  async #schedules(): Promise<{ readonly schedules: readonly ScheduleRow[] }> {
    const all = await this.#parts.schedules.list();
    return { schedules: all.map((one) => this.#shown({ ...one, runs: one.runs.map(toRow) })) };
  }

  async #schedule(name: string): Promise<ScheduleRow> {
    const found = (await this.#parts.schedules.list()).find((one) => one.name === name);
    if (!found) throw noSchedule(name);
    return this.#shown({ ...found, runs: found.runs.map(toDetail) });
  }

  async #run(name: string): Promise<TaskDetail> {
    const task = await this.#parts.schedules.run(name);
    if (!task) throw noSchedule(name);
    return this.#shown(toDetail(task));
  }

  async #cancelRuns(name: string): Promise<{ readonly cancelled: number }> {
    const cancelled = await this.#parts.schedules.cancel(name);
    if (cancelled === undefined) throw noSchedule(name);
    return { cancelled };
  }

  #shown<T extends ScheduleRow | TaskDetail>(facts: T): T {
    return this.#parts.redactFacts({ ...facts }) as unknown as T;
  }
}

function toRow({ result, ...task }: TaskSnapshot): TaskRow {
  const { id, status, statusMessage, tool, endpoint, createdAt, updatedAt } = task;
  const isError = result?.["isError"] === true;
  return {
    id,
    status,
    ...(statusMessage !== undefined && { statusMessage: firstChars(statusMessage, MAX_MESSAGE_CHARS) }),
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
