import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { isFailKind, KIND_META_KEY } from "../core/calls/kinds.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import { failureText, resultText } from "../core/calls/tool-value.ts";
import type { ToolResult } from "../core/calls/results.ts";
import { isJsonObject, objectMember, type JsonObject } from "../core/json/json.ts";
import { isFinal, type Tasks, type TaskSnapshot } from "../core/ports/tasks.ts";

/** Options of `hub.task`. */
export interface StartTaskOptions {
  /**
   * Capabilities of a program that answers server requests with `respond`, in the form of MCP: `{elicitation: {}}`.
   *
   * @default {}: server requests of the tool fail
   */
  readonly capabilities?: JsonObject;
}

/**
 * Call that runs independently of its caller, as `hub.task` and `hub.findTask` return it. Its state is on disk, so that
 * another hub of the same configuration can read it after a crash.
 */
export interface HubTask {
  /** Id with which `hub.findTask` finds the task again. */
  readonly id: string;
  /** Returns the current state, or `undefined` if the task was removed after its `ttl`. */
  state(): TaskSnapshot | undefined;
  /**
   * Resolves with the outcome when the call has ended: like that of `hub.call`. Without `signal` it waits for as long
   * as the call runs; after an abort it resolves with the failure `cancelled`, and the call continues.
   */
  outcome(options?: { readonly signal?: AbortSignal }): Promise<Outcome<ToolResult>>;
  /** Calls `listener` after every change of the state, until the returned function is called. */
  onChange(listener: (state: TaskSnapshot) => void): () => void;
  /**
   * Answers server requests of the state's `inputRequests` by their keys: `{"<key>": {action: "accept"}}`.
   * Returns false if the task does not exist.
   */
  respond(responses: JsonObject): boolean;
  /** Cancels the call. A finished task stays unchanged. Returns false if the task does not exist. */
  cancel(): boolean;
}

/** Tasks of a program that uses a hub as a library. */
export interface ProgramTasks {
  /**
   * Calls a tool without waiting for it. Resolves when the call was admitted and stored. Rejects with a `FailError` if
   * it was refused: an unknown tool, invalid arguments, too many unfinished tasks.
   *
   * @example
   *
   * ```ts
   * import { createHub } from "toolyard";
   *
   * await using hub = await createHub({ config: "toolyard.toml" });
   * const task = await hub.task("report", { year: 2026 });
   * console.log(task.id, task.state()?.status);
   * const outcome = await task.outcome();
   * console.log(outcome.ok ? outcome.result.content : outcome.message);
   * ```
   */
  task(tool: string, args?: JsonObject, options?: StartTaskOptions): Promise<HubTask>;
  /** Returns the task with this id, or `undefined` if the program has none. */
  findTask(id: string): Promise<HubTask | undefined>;
  /** Returns the states of the program's tasks, the newest first. */
  tasks(): Promise<readonly TaskSnapshot[]>;
}

/** Gives a program access to its tasks. */
export function programTasks(tasks: Tasks): ProgramTasks {
  const principal = LOCAL_PRINCIPAL;
  return {
    task: async (tool, args = {}, options = {}) => {
      const { id } = await tasks.start({ ...options, principal, endpoint: "library", tool, arguments: args });
      return hubTask(tasks, id);
    },
    findTask: async (id) => {
      await tasks.ready({ id, principal });
      return tasks.get(id, principal) && hubTask(tasks, id);
    },
    tasks: async () => {
      await tasks.ready({ principal });
      return tasks.list(principal);
    },
  };
}

function hubTask(tasks: Tasks, id: string): HubTask {
  const principal = LOCAL_PRINCIPAL;
  const state = (): TaskSnapshot | undefined => tasks.get(id, principal);
  return {
    id,
    state,
    outcome: async ({ signal = new AbortController().signal } = {}) => {
      const known = state();
      const end = known && isFinal(known) ? known : await tasks.ended(id, principal, signal);
      if (end) return outcomeOf(end);
      return signal.aborted ? STOPPED_WAITING : fail("unknown_tool", `There is no task \`${id}\` any more.`);
    },
    onChange: (listener) =>
      tasks.changed.on(({ task }) => {
        if (task.id === id) listener(task);
      }),
    respond: (responses) => tasks.respond(id, principal, responses),
    cancel: () => tasks.cancel(id, principal),
  };
}

const STOPPED_WAITING = fail("cancelled", "The wait for the task was aborted. The task continues.");

/** Returns the end of a task as the outcome of a call. */
function outcomeOf({ status, result, error, statusMessage }: TaskSnapshot): Outcome<ToolResult> {
  if (status === "cancelled") return fail("cancelled", statusMessage ?? "The task was cancelled.");
  if (!result) return failureOf(error?.data, error?.message ?? statusMessage ?? "The task failed.");
  if (result["isError"] !== true) return { ok: true, result: result as unknown as ToolResult };
  return { ...failureOf(objectMember(result, "_meta"), failureText(resultText(result)), "tool_error"), result };
}

/** Returns a failure with the outcome code that the hub stored in `facts`, or with the code `otherwise`. */
function failureOf(facts: unknown, message: string, otherwise: "internal" | "tool_error" = "internal"): Fail {
  const kind = isJsonObject(facts) ? facts[KIND_META_KEY] : undefined;
  return fail(typeof kind === "string" && isFailKind(kind) ? kind : otherwise, message);
}
