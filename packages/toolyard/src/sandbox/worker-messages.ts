import type { MessagePort } from "node:worker_threads";
import type { SandboxEnd, SandboxError, SandboxFile, SandboxJob } from "./engine.ts";

/**
 * Messages between the sandbox child and one worker thread, over a `MessagePort` in `workerData`. A port, because a
 * worker deep inside an interpreter reads it with `receiveMessageOnPort`, woken by the counter below, while its event
 * loop is blocked.
 */
export interface SandboxWorkerSettings {
  readonly port: MessagePort;
  /** `Int32Array(1)` over it: the child adds one and notifies after each message to the worker. */
  readonly wake: SharedArrayBuffer;
  /** A `WebAssembly.Module`, compiled once in the child and shared between workers. */
  readonly module: object;
  /** The interpreter is created with this bound, before any job is known. */
  readonly memoryBytes: number;
}

export type ToWorker =
  | { readonly type: "job"; readonly job: SandboxJob }
  /** `json`: the value as JSON text when `ok`, else `{"kind": …, "message": …, "retryable": …}` of the `ToolError`. */
  | { readonly type: "reply"; readonly id: number; readonly ok: boolean; readonly json: string };

export type FromWorker =
  /** The interpreter is up: it waits for a job. Also after a job of a session, once it can take the next one. */
  | { readonly type: "ready" }
  | { readonly type: "call"; readonly id: number; readonly path: string; readonly json: string }
  | { readonly type: "search"; readonly id: number; readonly query: string; readonly limit: number }
  /** Sent as it is written, already within the job's `outputBytes`. */
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly text: string }
  /** The code starts or stops waiting for the host: its CPU clock is paused in between. */
  | { readonly type: "waiting"; readonly waits: boolean }
  | { readonly type: "done"; readonly done: WorkerDone };

export interface WorkerDone {
  readonly end: SandboxEnd;
  readonly resultJson?: string;
  readonly error?: SandboxError;
  readonly artifacts: readonly SandboxFile[];
  readonly truncated: boolean;
}
