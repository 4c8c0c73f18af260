import { within } from "../../core/timing/wait.ts";
import type { ChildSettings, InterpreterName } from "../child-messages.ts";
import { workerKinds, type WorkerKinds } from "./worker-kinds.ts";
import { SandboxWorker } from "./sandbox-worker.ts";

/** A run that ends sooner than this does not share its time with the start of the next worker. */
const REFILL_AFTER_MS = 25;

/**
 * Workers that are ready for a job: one for each used language. More would cost memory that only a burst needs (9 MB
 * each for JavaScript, 45 MB for Python), and a new worker is ready before a model has written its next code. Taking
 * one starts the next; if none is ready, the caller gets one that is starting, so that no caller waits for a place that
 * another run occupies.
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
    // A worker that exits before its first job is dropped; the next run starts another and reports why it does not
    // start.
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
   * Not while the worker starts, since a caller waits for it; nor in the first moments of its run, which are usually
   * the whole run.
   */
  async #refillAfter(worker: SandboxWorker, language: InterpreterName): Promise<void> {
    await worker.ready;
    await within(worker.ended, REFILL_AFTER_MS);
    this.prepare(language);
  }
}
