import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from "node:worker_threads";
import type { FromWorker, ToWorker, SandboxWorkerSettings } from "../worker-messages.ts";
import { WorkerReadiness } from "./readiness.ts";
import type { RunWorker, WorkerEnd } from "./run-worker.ts";
import type { WorkerKind } from "./worker-kinds.ts";

/** Limits of a worker's own JavaScript heap. The bytes of files do not count. */
// Since Node 24, each worker would otherwise reserve 512 MB for compiled code, which the data limits of the bubblewrap
// engine count.
const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 192,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 16,
  codeRangeSizeMb: 64,
} as const;

/** One worker thread with an interpreter in it. */
export class SandboxWorker implements RunWorker {
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  readonly #wake = new SharedArrayBuffer(4);
  readonly #counter = new Int32Array(this.#wake);
  readonly #port: MessagePort;
  readonly #theirs: MessagePort;
  #worker: Worker | undefined;
  #onMessage: ((message: unknown) => void) | undefined;
  #markReady!: () => void;
  #markEnded!: (end: WorkerEnd) => void;
  #isOver = false;
  readonly #readiness = new WorkerReadiness();

  constructor(kind: WorkerKind) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#theirs = port2;
    this.ended = new Promise((resolve) => (this.#markEnded = resolve));
    this.ready = new Promise((resolve) => (this.#markReady = resolve));
    port1.on("message", (message: unknown) => this.#receive(message));
    void this.#start(kind);
  }

  listen(onMessage: ((message: unknown) => void) | undefined): void {
    this.#onMessage = onMessage;
  }

  afterJob(maxWaitMs: number): Promise<"free" | "busy" | "ended"> {
    return this.#readiness.state(this.ended, maxWaitMs);
  }

  send(message: ToWorker): void {
    if (this.#isOver) return;
    if (message.type === "job") this.#readiness.given();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
    this.#port.postMessage(message);
    Atomics.add(this.#counter, 0, 1);
    Atomics.notify(this.#counter, 0);
  }

  computedMs(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }

  end(): void {
    this.#finish({ reason: "ended", detail: "" });
  }

  async #start(kind: WorkerKind): Promise<void> {
    try {
      const settings: SandboxWorkerSettings = {
        port: this.#theirs,
        wake: this.#wake,
        ...(await kind.program()),
        memoryBytes: kind.memoryBytes,
      };
      if (this.#isOver) return;
      const worker = new Worker(kind.entry, {
        workerData: { ...kind.data, ...settings },
        transferList: [this.#theirs],
        env: {},
        argv: [],
        resourceLimits: RESOURCE_LIMITS,
        stdout: true,
        stderr: true,
      });
      this.#worker = worker;
      worker.on("error", (error: NodeJS.ErrnoException) =>
        this.#finish({
          reason: error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crashed",
          detail: String(error?.message),
        }),
      );
      worker.on("exit", (code) => this.#exited(code));
    } catch (error) {
      this.#finish({ reason: "crashed", detail: error instanceof Error ? error.message : String(error) });
    }
  }

  // An interpreter without a session exits after it reports the end of its job; the exit event may arrive first.
  #exited(code: number): void {
    while (!this.#isOver) {
      const left = receiveMessageOnPort(this.#port);
      if (left === undefined) break;
      this.#receive(left.message);
    }
    this.#finish({ reason: "crashed", detail: `Its exit code is ${code}.` });
  }

  #receive(message: unknown): void {
    if (this.#isOver) return;
    if ((message as FromWorker | null)?.type === "ready") {
      this.#readiness.said();
      return this.#markReady();
    }
    this.#onMessage?.(message);
  }

  #finish(end: WorkerEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#port.close();
    this.#onMessage = undefined;
    void this.#worker?.terminate();
    this.#markEnded(end);
    this.#markReady();
  }
}
