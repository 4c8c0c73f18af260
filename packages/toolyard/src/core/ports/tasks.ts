import type { Principal } from "../calls/call.ts";
import type { RpcErrorObject } from "../calls/outcome.ts";
import type { Emitter } from "../events.ts";
import type { JsonObject } from "../json/json.ts";

/** Id of the MCP extension (SEP-2663), under which clients and servers declare it. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** States of a task (SEP-2663). The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** Result of a task: the tool's result, also one with `isError`, or the protocol error of the call. */
export type TaskEnd =
  | { readonly type: "result"; readonly result: JsonObject }
  | { readonly type: "error"; readonly error: RpcErrorObject }
  /** The call was cancelled before its end. */
  | { readonly type: "cancelled" };

/** A call that continues without a request of its caller, at one moment. */
export interface TaskSnapshot {
  /** Unguessable: 128 random bits. */
  readonly id: string;
  readonly status: TaskStatus;
  /** Last progress message of the tool, or the reason of a failure. */
  readonly statusMessage?: string;
  /** Name of the tool as callers see it. */
  readonly tool: string;
  /** Endpoint that received the call: `mcp-http`, `rest`, … */
  readonly endpoint: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  /** Milliseconds after `createdAt` for which the task can be read. */
  readonly ttlMs: number;
  /** Milliseconds between two reads that the hub recommends. */
  readonly pollIntervalMs: number;
  /** With `input_required`: the open server requests by key, as `{method, params}`. */
  readonly inputRequests?: JsonObject;
  /** With `completed`. */
  readonly result?: JsonObject;
  /** With `failed`. */
  readonly error?: RpcErrorObject;
}

/** Receiver of the events of a running call. */
export interface TaskObserver {
  progressed(message: string): void;
  /** The set of open server requests changed. */
  inputChanged(): void;
  settled(end: TaskEnd): void;
}

/** A running call as its task controls it. */
export interface TaskRun {
  /** Reports events from now on, and at once those that happened before. */
  observe(observer: TaskObserver): void;
  /** Returns the open server requests by key. */
  openInput(): JsonObject;
  /** Passes answers to server requests, by key. Unknown keys and malformed answers are ignored. */
  respond(responses: JsonObject): void;
  cancel(reason: unknown): void;
}

/** The call of a new task. */
export interface TaskCall {
  readonly principal: Principal;
  readonly endpoint: string;
  readonly tool: string;
  /** Arguments as the caller sent them, to repeat an idempotent call after a crash of the hub. */
  readonly arguments: JsonObject;
  /** True if the tool may be called twice with the same effect as once. */
  readonly isIdempotent: boolean;
}

/** A call that is a task from its beginning. */
export interface StartedCall {
  readonly principal: Principal;
  readonly endpoint: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Capabilities of a caller that answers server requests, in MCP's shape. @default none: server requests fail */
  readonly capabilities?: JsonObject;
}

/** A change of a task, for callers that may read it. */
export interface TaskChange {
  /** Key of the owner, as `callerKey` returns it. */
  readonly owner: string;
  readonly task: TaskSnapshot;
}

/** Calls that outlive the request that started them. Every method sees only the tasks of one principal. */
export interface Tasks {
  /**
   * Calls a tool without a request that waits for it, and stores the call as a task. Rejects with a `FailError` if the
   * call is refused, if the caller has no room for another task, or if the task cannot be stored.
   */
  start(call: StartedCall): Promise<TaskSnapshot>;
  /** False if `[tasks] mode = "never"` and no tool has another mode: the extension is not declared. */
  readonly isOffered: boolean;
  /** Resolves when the tasks of earlier hubs are known. Await it before `get`, `list`, `respond`, `cancel`. */
  ready(): Promise<void>;
  /** Returns true if the principal may have one more unfinished task. */
  hasRoomFor(principal: Principal): boolean;
  /**
   * Stores a running call as a task. Resolves when the task is on disk, so that it can be read after a crash. Rejects
   * with a `FailError` if it cannot be stored; the call is cancelled then.
   */
  create(call: TaskCall, run: TaskRun): Promise<TaskSnapshot>;
  get(id: string, principal: Principal): TaskSnapshot | undefined;
  /** Returns the tasks of the principal, newest first. */
  list(principal: Principal): readonly TaskSnapshot[];
  /** Returns false if there is no such task. */
  respond(id: string, principal: Principal, responses: JsonObject): boolean;
  /** Returns false if there is no such task. A finished task stays as it is. */
  cancel(id: string, principal: Principal): boolean;
  /** Resolves with the final state of a task, or with `undefined` if there is no such task or the signal aborts. */
  ended(id: string, principal: Principal, signal: AbortSignal): Promise<TaskSnapshot | undefined>;
  readonly changed: Emitter<TaskChange>;
}

/** Returns true for a task whose state does not change any more. */
export function isFinal({ status }: Pick<TaskSnapshot, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
