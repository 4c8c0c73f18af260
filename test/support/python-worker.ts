import { setFlagsFromString } from "node:v8";
import { receiveMessageOnPort, MessageChannel, Worker } from "node:worker_threads";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type {
  HostReply,
  SandboxError,
  SandboxFile,
  SandboxLimits,
  SandboxProfile,
} from "../../packages/toolyard/src/sandbox/engine.ts";
import { compilePython, type CompiledPython } from "../../packages/toolyard/src/sandbox/python/module.ts";
import type { FromWorker, ToWorker, WorkerDone } from "../../packages/toolyard/src/sandbox/worker-messages.ts";

// The same flag as for the child: it halves the start time of an interpreter.
setFlagsFromString("--liftoff-only");

const MEMORY_BYTES = 128 * 1_048_576;

export const PYTHON_LIMITS: SandboxLimits = {
  wallMs: 20_000,
  cpuMs: 20_000,
  memoryBytes: MEMORY_BYTES,
  outputBytes: 20_000,
  resultBytes: 200_000,
  toolCalls: 40,
  concurrentToolCalls: 8,
  toolBytes: 50_000,
  fileBytes: 1_000_000,
  files: 20,
};

export interface PythonJob {
  readonly inputs?: JsonObject;
  readonly files?: readonly SandboxFile[];
  readonly profile?: SandboxProfile;
  readonly limits?: Partial<SandboxLimits>;
  readonly host?: (path: string, args: unknown) => HostReply | Promise<HostReply>;
}

export interface PythonRun {
  readonly end: WorkerDone["end"];
  readonly value: unknown;
  readonly error: SandboxError | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly files: Readonly<Record<string, string>>;
  readonly truncated: boolean;
  /** Calls as they reached the host. */
  readonly calls: readonly string[];
  readonly mostAtOnce: number;
  /** Reports of the worker whether it is waiting. */
  readonly waits: readonly boolean[];
}

let compiled: Promise<CompiledPython> | undefined;

/**
 * The real worker thread, from `dist`, with the parts of a child that a worker needs. One thread at a time; a new one
 * starts after it has ended.
 */
export class PythonWorker implements AsyncDisposable {
  readonly #snapshots: SharedArrayBuffer | undefined;
  #worker: Worker | undefined;
  #post: (message: ToWorker) => void = () => {};
  #onMessage: (message: FromWorker) => void = () => {};
  #onEnd: (code: number) => void = () => {};
  #isReady = false;

  /** @param snapshots memory that several workers share */
  constructor(snapshots?: SharedArrayBuffer) {
    this.#snapshots = snapshots;
  }

  // oxlint-disable-next-line toolyard/test-length -- One exchange with the worker, whose parts share its state.
  async run(
    code: string,
    { inputs = {}, files = [], profile = "scripting", limits = {}, host = echo }: PythonJob = {},
  ): Promise<PythonRun> {
    await this.#ready();
    this.#isReady = false;
    const heard = { stdout: "", stderr: "" };
    const calls: string[] = [];
    const waits: boolean[] = [];
    let running = 0;
    let mostAtOnce = 0;
    const done = await new Promise<WorkerDone>((resolve, reject) => {
      this.#onEnd = (exitCode) => reject(new Error(`the worker ended with ${exitCode}`));
      this.#onMessage = (message) => {
        if (message.type === "output") heard[message.stream] += message.text;
        else if (message.type === "waiting") waits.push(message.waits);
        else if (message.type === "done") resolve(message.done);
        else if (message.type === "call" || message.type === "search") {
          const path = message.type === "call" ? message.path : "search";
          calls.push(path);
          mostAtOnce = Math.max(mostAtOnce, ++running);
          const args: unknown =
            message.type === "call" ? JSON.parse(message.json) : { query: message.query, limit: message.limit };
          const answer = async (): Promise<void> => {
            const reply = await host(path, args);
            running -= 1;
            this.#post({
              type: "reply",
              id: message.id,
              ok: reply.ok,
              json: reply.ok ? reply.json : JSON.stringify({ ...reply, ok: undefined }),
            });
          };
          void answer();
        }
      };
      this.#post({
        type: "job",
        job: {
          language: "python",
          code,
          inputs,
          files,
          profile,
          limits: { ...PYTHON_LIMITS, ...limits },
          session: "one",
        },
      });
    });
    return {
      ...heard,
      end: done.end,
      error: done.error,
      truncated: done.truncated,
      value: done.resultJson === undefined ? undefined : JSON.parse(done.resultJson),
      files: Object.fromEntries(done.artifacts.map(({ path, bytes }) => [path, Buffer.from(bytes).toString("utf8")])),
      calls,
      mostAtOnce,
      waits,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  async #ready(): Promise<void> {
    if (this.#isReady) return;
    const ready = new Promise<boolean>((resolve) => {
      this.#onMessage = (message) => message.type === "ready" && resolve(true);
      this.#onEnd = () => resolve(false);
    });
    if (this.#worker === undefined) await this.#start();
    this.#isReady = await ready;
    if (!this.#isReady) await this.#ready();
  }

  async #start(): Promise<void> {
    const program = await (compiled ??= compilePython(MEMORY_BYTES));
    const { port1, port2 } = new MessageChannel();
    const wake = new SharedArrayBuffer(4);
    const counter = new Int32Array(wake);
    const worker = new Worker(new URL("../../packages/toolyard/dist/sandbox/python/worker.js", import.meta.url), {
      workerData: { port: port2, wake, ...program, memoryBytes: MEMORY_BYTES, snapshots: this.#snapshots },
      transferList: [port2],
      env: {},
      resourceLimits: { stackSizeMb: 16 },
    });
    this.#worker = worker;
    this.#post = (message) => {
      port1.postMessage(message);
      Atomics.add(counter, 0, 1);
      Atomics.notify(counter, 0);
    };
    port1.on("message", (message: FromWorker) => {
      if (message.type === "ready") this.#isReady = true;
      this.#onMessage(message);
    });
    worker.on("error", () => {});
    worker.on("exit", (code) => {
      // The last messages may arrive after the end.
      for (let left = receiveMessageOnPort(port1); left; left = receiveMessageOnPort(port1))
        this.#onMessage(left.message as FromWorker);
      port1.close();
      this.#worker = undefined;
      this.#isReady = false;
      this.#onEnd(code);
    });
  }
}

function echo(_: string, args: unknown): HostReply {
  return { ok: true, json: JSON.stringify(args) };
}
