import { within } from "../../core/timing/wait.ts";
import type { ChildSettings, InterpreterName } from "../child-messages.ts";
import { workerKinds, type WorkerKinds } from "./worker-kinds.ts";
import { SandboxWorker } from "./sandbox-worker.ts";

/**
 * Time after the start of a run at which the next worker is started. Shorter runs do not share the processor with that
 * start.
 */
const REFILL_AFTER_MS = 25;

/**
 * Workers that are ready for a job: one for each used language. More would cost memory that only bursts need (9 MB each
 * for JavaScript, 45 MB for Python), and a new worker is ready before a model has written its next code. Taking one
 * starts the next. If none is ready, the caller gets one that is starting, so that no caller waits for another run to
 * end.
 */
export class WorkerPool {
  readonly #kinds: WorkerKinds;
  readonly #spare = new Map<InterpreterName, SandboxWorker>();

  constructor(settings: ChildSettings) {
    this.#kinds = workerKinds(settings);
  }

  prepare(language: InterpreterName): void {
    if (this.#spare.has(language)) return;
    const worker = new SandboxWorker(this.#kinds[language]);
    this.#spare.set(language, worker);
    // A worker that exits before its first job is removed from the pool. The next run starts another one, and reports
    // the reason if that fails too.
    void worker.ended.then(() => this.#spare.get(language) === worker && this.#spare.delete(language));
  }

  take(language: InterpreterName): SandboxWorker {
    this.prepare(language);
    const worker = this.#spare.get(language)!;
    this.#spare.delete(language);
    void this.#refillAfter(worker, language);
    return worker;
  }

  /**
   * Starts the next worker. Waits until the current worker has started, because a caller waits for it, and until the
   * first moments of its run have passed, because most runs are shorter.
   */
  async #refillAfter(worker: SandboxWorker, language: InterpreterName): Promise<void> {
    await worker.ready;
    await within(worker.ended, REFILL_AFTER_MS);
    this.prepare(language);
  }
}
