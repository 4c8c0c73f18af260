import { within } from "../../core/timing/wait.ts";
import type { ChildSettings, Interpreter } from "../child-messages.ts";
import { workerKinds, type WorkerKinds } from "./worker-kinds.ts";
import { SandboxWorker } from "./sandbox-worker.ts";

/** A run that ends sooner than this does not share its time with the start of the next worker. */
const REFILL_AFTER_MS = 25;

/**
 * Workers ready for a job: one of each language that has been used. More would cost memory that only a burst needs (9
 * MB each for JavaScript, 45 MB for Python), and a worker is there again before a model has written its next code. Who
 * takes one sets off the next; who finds none gets one that is still starting, so that nobody waits for a place that
 * another run holds.
 */
export class WorkerPool {
  readonly #kinds: WorkerKinds;
  readonly #spare = new Map<Interpreter, SandboxWorker>();

  constructor(settings: ChildSettings) {
    this.#kinds = workerKinds(settings);
  }

  prepare(language: Interpreter): void {
    if (this.#spare.has(language)) return;
    const worker = new SandboxWorker(this.#kinds[language]);
    this.#spare.set(language, worker);
    // One that dies before it was asked anything is not kept; the next run starts another and says why that one does
    // not start.
    void worker.ended.then(() => this.#spare.get(language) === worker && this.#spare.delete(language));
  }

  take(language: Interpreter): SandboxWorker {
    this.prepare(language);
    const worker = this.#spare.get(language)!;
    this.#spare.delete(language);
    void this.#refillAfter(worker, language);
    return worker;
  }

  /**
   * Not while the worker starts, since somebody waits for it; nor in the first moments of its run, which most do not
   * outlast.
   */
  async #refillAfter(worker: SandboxWorker, language: Interpreter): Promise<void> {
    await worker.ready;
    await within(worker.ended, REFILL_AFTER_MS);
    this.prepare(language);
  }
}
