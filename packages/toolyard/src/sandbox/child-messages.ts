import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { SandboxError, SandboxFile, SandboxJob } from "./engine.ts";
import { toFilePath } from "./file-path.ts";
import type { FromWorker, WorkerDone } from "./worker-messages.ts";

/**
 * Start settings of the child, as JSON in its only argument. Contains paths but never a secret, because other users may
 * see arguments.
 */
export interface ChildSettings {
  /** `file:` URL of the module `quickjs-wasi`, and path of its WebAssembly file. */
  readonly quickjs: string;
  readonly quickjsWasm: string;
  /** Path of the bundled module `sucrase`. */
  readonly sucrase: string;
  readonly pythonWasm?: string;
  readonly memoryBytes: number;
  /** Maximum size of a frame from the hub. */
  readonly maxFrameBytes: number;
  readonly runs: number;
  readonly sessions: number;
  readonly sessionIdleMs: number;
  /** Interpreter that is started immediately, before the first job arrives. */
  readonly first: InterpreterName;
}

/** Language of the interpreter. TypeScript is converted to JavaScript before it runs. */
export type InterpreterName = "javascript" | "python";

interface FileHead {
  readonly path: string;
  readonly size: number;
}

export type ToChild =
  | {
      readonly type: "job";
      readonly run: number;
      readonly job: Omit<SandboxJob, "files">;
      readonly files: readonly FileHead[];
    }
  | { readonly type: "reply"; readonly run: number; readonly id: number; readonly ok: boolean; readonly json: string }
  /** Cancels the run; `done` follows. */
  | { readonly type: "cancel"; readonly run: number };

export type FromChild =
  | { readonly type: "started"; readonly run: number; readonly session?: "new" | "kept" }
  | { readonly type: "call"; readonly run: number; readonly id: number; readonly path: string; readonly json: string }
  | {
      readonly type: "search";
      readonly run: number;
      readonly id: number;
      readonly query: string;
      readonly limit: number;
    }
  | { readonly type: "output"; readonly run: number; readonly stream: "stdout" | "stderr"; readonly text: string }
  | { readonly type: "waiting"; readonly run: number; readonly waits: boolean }
  | {
      readonly type: "done";
      readonly run: number;
      readonly done: Omit<WorkerDone, "artifacts">;
      readonly files: readonly FileHead[];
    }
  /** Number of open sessions. The hub keeps the child while there are any. */
  | { readonly type: "sessions"; readonly count: number };

export function toFileHeads(files: readonly SandboxFile[]): FileHead[] {
  return files.map(({ path, bytes }) => ({ path, size: bytes.byteLength }));
}

/**
 * Copies the files from a frame's body, which the heads describe. Returns `undefined` if heads and body do not match.
 */
export function readFiles(heads: unknown, body: Uint8Array): SandboxFile[] | undefined {
  if (!Array.isArray(heads)) return undefined;
  const files: SandboxFile[] = [];
  let at = 0;
  for (const head of heads as readonly unknown[]) {
    if (!isJsonObject(head) || !isCount(head["size"])) return undefined;
    const path = toFilePath(head["path"]);
    if (path === undefined || at + head["size"] > body.byteLength) return undefined;
    files.push({ path, bytes: Uint8Array.prototype.slice.call(body, at, at + head["size"]) });
    at += head["size"];
  }
  return at === body.byteLength ? files : undefined;
}

/** Validates a message from the child. Sizes are checked by the run. */
export function isFromChild(head: unknown): head is FromChild {
  if (!isJsonObject(head)) return false;
  if (head["type"] === "sessions") return isCount(head["count"]);
  const type = head["type"] as keyof typeof SHAPES;
  return isCount(head["run"]) && Object.hasOwn(SHAPES, type) && SHAPES[type](head);
}

/** Validates a message from a worker. Files are checked by the run. */
export function isFromWorker(message: unknown): message is Exclude<FromWorker, { readonly type: "ready" }> {
  if (!isJsonObject(message)) return false;
  if (message["type"] === "done") return isWorkerDone(message["done"]);
  return Object.hasOwn(SAID, message["type"] as string) && SAID[message["type"] as SaidType](message);
}

/** Types of a run's messages before its end. The child forwards them from the worker to the hub. */
type SaidType = Exclude<FromWorker["type"], "ready" | "done">;
type MessageShape = (message: JsonObject) => boolean;

const SAID: Readonly<Record<SaidType, MessageShape>> = {
  call: ({ id, path, json }) => isCount(id) && typeof path === "string" && typeof json === "string",
  search: ({ id, query, limit }) => isCount(id) && typeof query === "string" && isCount(limit),
  output: ({ stream, text }) => (stream === "stdout" || stream === "stderr") && typeof text === "string",
  waiting: ({ waits }) => typeof waits === "boolean",
};

const SHAPES: Readonly<Record<Exclude<FromChild["type"], "sessions">, MessageShape>> = {
  ...SAID,
  started: ({ session }) => session === undefined || session === "new" || session === "kept",
  done: ({ done, files }) => isWorkerDone(done) && Array.isArray(files),
};

/** Returns whether a worker's end message is valid, except for its files. */
function isWorkerDone(done: unknown): done is Omit<WorkerDone, "artifacts"> {
  if (!isJsonObject(done)) return false;
  const { end, resultJson, error, truncated } = done;
  return (
    ENDS.has(end as string) &&
    (resultJson === undefined || typeof resultJson === "string") &&
    (error === undefined || isSandboxError(error)) &&
    typeof truncated === "boolean"
  );
}

function isSandboxError(error: unknown): error is SandboxError {
  return (
    isJsonObject(error) &&
    typeof error["type"] === "string" &&
    typeof error["message"] === "string" &&
    typeof error["traceback"] === "string"
  );
}

const ENDS: ReadonlySet<string> = new Set([
  "finished",
  "error",
  "timeout",
  "memory",
  "limit",
  "cancelled",
  "crashed",
  "busy",
]);

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
