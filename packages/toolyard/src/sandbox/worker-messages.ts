import type { MessagePort } from "node:worker_threads";
import type { SandboxEnd, SandboxError, SandboxFile, SandboxJob } from "./engine.ts";

/**
 * Messages between the sandbox child and one worker thread, over a `MessagePort` in `workerData`. A port is used,
 * because a worker can read it with `receiveMessageOnPort` while the interpreter blocks its event loop. The counter
 * `wake` ends its wait.
 */
export interface SandboxWorkerSettings {
  readonly port: MessagePort;
  /** Memory of an `Int32Array(1)`: the child adds one and notifies after each message to the worker. */
  readonly wake: SharedArrayBuffer;
  /** A `WebAssembly.Module`, compiled once in the child and shared by the workers. */
  readonly module: object;
  /** Memory limit with which the interpreter is created, before any job is known. */
  readonly memoryBytes: number;
}

export type ToWorker =
  | { readonly type: "job"; readonly job: SandboxJob }
  /** `json`: the value as JSON text if `ok`, else `{"kind": …, "message": …, "retryable": …}` of the `ToolError`. */
  | { readonly type: "reply"; readonly id: number; readonly ok: boolean; readonly json: string };

export type FromWorker =
  /** The interpreter waits for a job. Also sent after a job of a session, once it can run the next one. */
  | { readonly type: "ready" }
  | { readonly type: "call"; readonly id: number; readonly path: string; readonly json: string }
  | { readonly type: "search"; readonly id: number; readonly query: string; readonly limit: number }
  /** Output of the code. It is sent when it is written, and is already within the job's `outputBytes`. */
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly text: string }
  /** The code starts or stops waiting for the host. Its processor time is not measured in between. */
  | { readonly type: "waiting"; readonly waits: boolean }
  | { readonly type: "done"; readonly done: WorkerDone };

export interface WorkerDone {
  readonly end: SandboxEnd;
  readonly resultJson?: string;
  readonly error?: SandboxError;
  readonly artifacts: readonly SandboxFile[];
  readonly truncated: boolean;
}
