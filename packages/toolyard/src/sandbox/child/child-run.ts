import { isFromWorker, type FromChild } from "../child-messages.ts";
import { tooMuchMemory } from "../bound-messages.ts";
import type { SandboxJob, SandboxLimits } from "../engine.ts";
import { toFilePath } from "../file-path.ts";
import type { WorkerDone } from "../worker-messages.ts";
import { RunClock } from "../run-clock.ts";
import type { RunWorker, WorkerEnd } from "./run-worker.ts";

type WithoutRun<T> = T extends { readonly run: number } ? Omit<T, "run"> : never;
/** A message of a run to the hub, without the number of the run. */
export type RunMessage = WithoutRun<Exclude<FromChild, { readonly type: "started" | "done" }>>;

/**
 * Time from the end of a worker's time limit until the worker is ended from outside. It is needed if the worker cannot
 * measure its own time. If it can, its own report has more details.
 */
const WORKER_GRACE_MS = 600;

/**
 * One run on one worker: validates, counts and forwards the worker's messages, and enforces its time limits from
 * outside.
 */
export class WorkerRun {
  readonly job: SandboxJob;
  readonly #tell: (message: RunMessage) => void;
  readonly #done: Promise<WorkerDone>;
  #finish!: (done: WorkerDone) => void;
  #worker: RunWorker | undefined;
  #clock: RunClock | undefined;
  #isDone = false;
  #outputLeft: number;
  #callsLeft: number;

  constructor(job: SandboxJob, tell: (message: RunMessage) => void) {
    this.job = job;
    this.#tell = tell;
    this.#outputLeft = job.limits.outputBytes;
    this.#callsLeft = job.limits.toolCalls;
    this.#done = new Promise((resolve) => {
      this.#finish = (done) => {
        this.#isDone = true;
        resolve(done);
      };
    });
  }

  /** Runs the job once the worker is ready. Afterwards the caller ends the worker or keeps it. */
  async on(worker: RunWorker, onStart: () => void): Promise<WorkerDone> {
    this.#worker = worker;
    void worker.ended.then((end) => this.#finish(afterEnd(end, this.job.limits)));
    await Promise.race([worker.ready, this.#done]);
    if (this.#isDone) return this.#done;
    onStart();
    const times = { named: this.job.limits, graceMs: WORKER_GRACE_MS, computedMs: () => worker.computedMs?.() ?? NaN };
    this.#clock = new RunClock(times, (message) => this.#finish(failed("timeout", "Timeout", message)));
    worker.listen((message) => this.#receive(message));
    worker.send({ type: "job", job: this.job });
    const done = await this.#done;
    this.#clock.stop();
    worker.listen(undefined);
    return done;
  }

  reply({ id, ok, json }: { readonly id: number; readonly ok: boolean; readonly json: string }): void {
    this.#worker?.send({ type: "reply", id, ok, json });
  }

  cancel(): void {
    this.#finish(failed("cancelled", "Cancelled", "The run was cancelled."));
  }

  // Validates every message, because code in the worker may send anything. A message of an unknown type ends the
  // worker.
  #receive(message: unknown): void {
    if (!isFromWorker(message)) return this.#nonsense();
    switch (message.type) {
      case "output":
        return this.#output(message);
      case "call": {
        const { id, path, json } = message;
        return this.#mayCall() ? this.#tell({ type: "call", id, path, json }) : this.#nonsense();
      }
      case "search": {
        const { id, query, limit } = message;
        return this.#mayCall() ? this.#tell({ type: "search", id, query, limit }) : this.#nonsense();
      }
      case "waiting":
        this.#clock?.waits(message.waits);
        return this.#tell({ type: "waiting", waits: message.waits });
      case "done":
        return this.#hasArtifacts(message.done) ? this.#finish(message.done) : this.#nonsense();
    }
  }

  #output({ stream, text }: { readonly stream: "stdout" | "stderr"; readonly text: string }): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#outputLeft) return;
    this.#outputLeft -= bytes;
    this.#tell({ type: "output", stream, text });
  }

  // One call above the limit is forwarded to the hub, which then ends the run and reports the reason.
  #mayCall(): boolean {
    this.#callsLeft -= 1;
    return this.#callsLeft >= -1;
  }

  #hasArtifacts({ artifacts }: WorkerDone): boolean {
    const { files, fileBytes } = this.job.limits;
    if (!Array.isArray(artifacts) || artifacts.length > files) return false;
    const isWhole = artifacts.every(({ path, bytes }) => bytes instanceof Uint8Array && toFilePath(path) === path);
    return isWhole && artifacts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) <= fileBytes;
  }

  #nonsense(): void {
    this.#finish(failed("crashed", "Crashed", "The interpreter sent an invalid message, and was ended."));
  }
}

function afterEnd({ reason, detail }: WorkerEnd, { memoryBytes }: SandboxLimits): WorkerDone {
  if (reason === "memory") return failed("memory", "MemoryError", tooMuchMemory(memoryBytes));
  if (reason === "timeout") return failed("timeout", "Timeout", detail);
  if (reason === "limit") return failed("limit", "LimitError", detail);
  return failed("crashed", "Crashed", `The interpreter ended unexpectedly.${isPlain(detail) ? ` ${detail}` : ""}`);
}

/** Returns whether the text may be shown to the caller: it must contain no path and be short. */
function isPlain(detail: string): boolean {
  return detail !== "" && detail.length <= 300 && !/[/\\]/u.test(detail.replace(/`@?[\w-]+\/[\w-]+`/gu, ""));
}

function failed(end: WorkerDone["end"], type: string, message: string): WorkerDone {
  return { end, error: { type, message, traceback: "" }, artifacts: [], truncated: false };
}
