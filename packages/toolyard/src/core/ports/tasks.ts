import type { CallNotification, Principal } from "../calls/call.ts";
import type { UpstreamTask } from "../calls/task-offer.ts";
import type { FailError } from "../errors.ts";
import type { RpcErrorObject } from "../calls/outcome.ts";
import type { Emitter } from "../events.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";

/** Id of the MCP extension (SEP-2663), with which clients and servers declare it. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
/** Key in `_meta` of messages that belong to a task (2025-11-25). */
export const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** States of a task (SEP-2663). The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** End of a task: the tool's result, possibly with `isError`, or the protocol error of the call. */
export type TaskEnd =
  | { readonly type: "result"; readonly result: JsonObject }
  | { readonly type: "error"; readonly error: RpcErrorObject }
  /** The call was cancelled before its end. */
  | { readonly type: "cancelled" };

/** State at one moment of a call that continues without a request of its caller. */
export interface TaskSnapshot {
  /** Unguessable id with 128 random bits. */
  readonly id: string;
  readonly status: TaskStatus;
  /** Last progress message of the tool, or the reason of a failure. */
  readonly statusMessage?: string;
  /** Name of the tool as callers see it. */
  readonly tool: string;
  /** Endpoint that received the call: `mcp-http`, `rest`, … */
  readonly endpoint: string;
  /** Time in ISO 8601. */
  readonly createdAt: string;
  /** Time in ISO 8601. */
  readonly updatedAt: string;
  /**
   * Milliseconds for which the task can be read after its end. Clients count them from `createdAt`, and so never expect
   * to read it for longer.
   */
  readonly ttlMs: number;
  /** Milliseconds between two reads, as the hub recommends. */
  readonly pollIntervalMs: number;
  /** With `input_required`: the open server requests by key, in the form `{method, params}`. */
  readonly inputRequests?: JsonObject;
  /** Present with `completed`. */
  readonly result?: JsonObject;
  /** Present with `failed`. */
  readonly error?: RpcErrorObject;
}

/** Receiver of the events of a running call. */
export interface TaskObserver {
  progressed(message: string): void;
  /** Called when the set of open server requests has changed. */
  inputChanged(): void;
  /** Called when an upstream server has begun to run the call as its own task. */
  delegated(task: UpstreamTask): void;
  settled(end: TaskEnd): void;
}

/** Interface through which a task observes and controls its running call. */
export interface TaskRun {
  /** Reports future events to `observer`, and immediately those that have already happened. */
  observe(observer: TaskObserver): void;
  /** Returns the open server requests by key. */
  openInput(): JsonObject;
  /** Passes answers to server requests, by key. Ignores unknown keys and malformed answers. */
  respond(responses: JsonObject): void;
  /** Rejects one open server request, because its caller declined it or cannot answer it. */
  refuse(key: string, error: FailError): void;
  cancel(reason: unknown): void;
}

/** Call of a new task. */
export interface TaskCall {
  readonly principal: Principal;
  readonly endpoint: string;
  readonly tool: string;
  /**
   * Arguments as the caller sent them. They are stored so that an idempotent call can be repeated after a crash of the
   * hub.
   */
  readonly arguments: JsonObject;
  /** True if a second call of the tool has no further effect. */
  readonly isIdempotent: boolean;
  /** Task of an upstream server that runs the call. @default none */
  readonly upstream?: UpstreamTask | undefined;
  /** Requested time for which the task can be read, in milliseconds. @default `[tasks] ttl`, which is also the limit */
  readonly ttlMs?: number | undefined;
  /** `_meta` with the trace context of the call. @default none */
  readonly meta?: JsonObject | undefined;
}

/** Call that is a task from its start. */
export interface StartedCall {
  readonly principal: Principal;
  readonly endpoint: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Capabilities of a caller that answers server requests, in the form of MCP. @default none: server requests fail */
  readonly capabilities?: JsonObject;
  /** Requested time for which the task can be read, in milliseconds. @default `[tasks] ttl`, which is also the limit */
  readonly ttlMs?: number | undefined;
  /** Receiver of progress and log messages while the caller is connected. @default none */
  readonly notify?: ((notification: CallNotification) => void) | undefined;
  /** `_meta` with the trace context of the caller. @default none */
  readonly meta?: JsonObject | undefined;
  /** Task of an upstream server to follow instead of calling the tool, after a restart of the hub. @default none */
  readonly follows?: UpstreamTask | undefined;
}

/** Tasks that are about to be read: one, or all of a principal. */
export interface WantedTasks {
  readonly principal: Principal;
  /** @default all tasks of the principal */
  readonly id?: string | undefined;
}

/** Scheduled runs of all hubs of a store, each of which starts once. */
export interface SharedRuns {
  /** Offers a run. Every hub of the store offers it, and a single hub starts it. */
  offer(schedule: string, time: Date): Promise<void>;
  /** Starts offered runs with the function, until the resolved function is called. */
  serve(start: (schedule: string) => Promise<void>): Promise<() => Promise<void>>;
}

/** Server request of a task that its caller does not answer. */
export interface RefusedInput {
  readonly key: string;
  readonly error: FailError;
}

/** Change of a task, for callers that may read the task. */
export interface TaskChange {
  /** Key of the owner, as `callerKey` returns it. */
  readonly owner: string;
  readonly task: TaskSnapshot;
}

/**
 * Rules that decide which tools support tasks for clients of 2025-11-25. A change of the configuration creates a new
 * object.
 */
export interface TaskSupportRules {
  /**
   * Returns true if a list shall state that the tool supports tasks: its own server states it, or the configuration
   * names it. `isDeclared` is true if its server states it.
   */
  supports(tool: string, isDeclared: boolean): boolean;
}

/** Calls that continue after the request that started them. Every method accesses only the tasks of one principal. */
export interface Tasks {
  /**
   * Calls a tool without a request that waits for it, and stores the call as a task. Rejects with a `FailError` if the
   * call is refused, if the caller has too many unfinished tasks, or if the task cannot be stored.
   */
  start(call: StartedCall): Promise<TaskSnapshot>;
  /** False if `[tasks] mode = "never"` and no tool has another mode. The hub then does not declare the extension. */
  readonly isOffered: boolean;
  /** Absent if no tool may become a task. */
  readonly supportRules: TaskSupportRules | undefined;
  /** Present if several hubs share a store. */
  readonly sharedRuns?: SharedRuns | undefined;
  /**
   * Resolves when the tasks of earlier hubs are known, and the wanted ones of other hubs of the same store. Must be
   * awaited before `get`, `list`, `respond`, `refuse` and `cancel`. Rejects with a `FailError` if the store of several
   * hubs cannot be reached and this hub does not have the wanted task.
   */
  ready(wanted?: WantedTasks): Promise<void>;
  /** Returns true if the principal may start another task. */
  hasRoomFor(principal: Principal): boolean;
  /**
   * Resolves if the principal may start another task. Rejects with a `FailError` otherwise, also if the store of
   * several hubs cannot be reached.
   */
  admit(principal: Principal): Promise<void>;
  /**
   * Stores a running call as a task. Resolves when the task is on disk, so that it can be read after a crash. Rejects
   * with a `FailError` if the task cannot be stored; the call is then cancelled.
   */
  create(call: TaskCall, run: TaskRun): Promise<TaskSnapshot>;
  get(id: string, principal: Principal): TaskSnapshot | undefined;
  /** Returns the tasks of the principal, the newest first. */
  list(principal: Principal): readonly TaskSnapshot[];
  /** Passes answers to a task. Returns false if the task does not exist. */
  respond(id: string, principal: Principal, responses: JsonObject): boolean;
  /** Rejects one open server request of a task. Returns false if the task does not exist. */
  refuse(id: string, principal: Principal, refused: RefusedInput): boolean;
  /** Cancels a task. Returns false if the task does not exist. A finished task stays unchanged. */
  cancel(id: string, principal: Principal): boolean;
  /** Resolves with the final state of a task, or with `undefined` if the task does not exist or the signal aborts. */
  ended(id: string, principal: Principal, signal: AbortSignal): Promise<TaskSnapshot | undefined>;
  readonly changed: Emitter<TaskChange>;
}

/** Methods that the extension defines (SEP-2663). */
export const TASK_METHODS = ["tasks/get", "tasks/update", "tasks/cancel"] as const;

/** Returns true if capabilities of a client or a server contain the extension. */
export function hasTasksExtension({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

/** Returns true if the state of a task is final. */
export function isFinal({ status }: { readonly status?: unknown }): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
