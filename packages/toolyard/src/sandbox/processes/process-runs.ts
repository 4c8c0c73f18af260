import { WorkerRun } from "../child/child-run.ts";
import { runInSession } from "../child/in-session.ts";
import type { RunWorker } from "../child/run-worker.ts";
import { InterpreterSessions } from "../child/sessions.ts";
import { toFileHeads } from "../child-messages.ts";
import type { SandboxHost, SandboxJob, SandboxOutcome } from "../engine.ts";
import type { RunHost } from "../hosted-engine.ts";
import { ownerOf } from "../owner.ts";
import { HubRun } from "../hub-run.ts";
import type { WorkerDone } from "../worker-messages.ts";
import { ProcessWorker, type ProcessKind } from "./process-worker.ts";

export interface ProcessRunsOptions {
  readonly kind: ProcessKind;
  readonly sessions: number;
  readonly sessionIdleMs: number;
  onSessions(): void;
  /** Called when all processes must end. */
  onKill?(): Promise<void>;
}

const NO_RUN = 0;

/**
 * Runs jobs, each in its own process. One process is prepared in advance. Every message of a process is validated here
 * again.
 */
export class ProcessRuns implements RunHost {
  isOver = false;
  readonly #options: ProcessRunsOptions;
  readonly #sessions: InterpreterSessions;
  readonly #workers = new Set<ProcessWorker>();
  #spare: ProcessWorker | undefined;
  #sessionCount = 0;

  constructor(options: ProcessRunsOptions) {
    this.#options = options;
    this.#sessions = new InterpreterSessions(options, (count) => {
      this.#sessionCount = count;
      options.onSessions();
    });
    this.#prepare();
  }

  get sessions(): number {
    return this.#sessionCount;
  }

  /** Process id of the most recent process. */
  get pid(): number | undefined {
    return Array.from(this.#workers).at(-1)?.pid;
  }

  async run(
    job: SandboxJob,
    host: SandboxHost,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: SandboxOutcome; readonly isStarted: boolean }> {
    // If the operating system measures processor time, the reports of waiting from the process are ignored, because the
    // code could forge them.
    const counted = process.platform === "linux" ? { ...job, limits: { ...job.limits, cpuMs: UNCOUNTED_MS } } : job;
    const inner = new WorkerRun(counted, (message) => outer.take({ ...message, run: NO_RUN }, NOTHING));
    const outer = new HubRun({
      id: NO_RUN,
      job: counted,
      host,
      send: (message) => (message.type === "reply" ? inner.reply(message) : undefined),
      distrust: () => inner.cancel(),
    });
    const cancel = (): void => outer.fail("cancelled", "The caller cancelled the run or went away.");
    signal.addEventListener("abort", cancel, { once: true });
    // If this side ends the run, the process must end it too.
    void outer.outcome.then(() => inner.cancel());
    const { artifacts, ...done } = await this.#perform(job, inner, (session) =>
      outer.take({ type: "started", run: NO_RUN, ...(session ? { session } : {}) }, NOTHING),
    );
    outer.take(
      { type: "done", run: NO_RUN, done, files: toFileHeads(artifacts) },
      Buffer.concat(artifacts.map(({ bytes }) => bytes)),
    );
    signal.removeEventListener("abort", cancel);
    return { outcome: await outer.outcome, isStarted: outer.isStarted };
  }

  async kill(): Promise<void> {
    this.isOver = true;
    const workers = Array.from(this.#workers);
    for (const worker of workers) worker.end();
    await Promise.all([...workers.map((worker) => worker.gone()), this.#options.onKill?.()]);
  }

  async #perform(job: SandboxJob, run: WorkerRun, onStart: (session?: "new" | "kept") => void): Promise<WorkerDone> {
    if (job.session === undefined) {
      const worker = this.#take();
      // The process receives the real limits, except those of time.
      const done = await run.on(boundTo(worker, job), () => onStart());
      worker.end();
      return done;
    }
    return runInSession(this.#sessions, {
      key: job.session,
      owner: ownerOf(job),
      begin: () => this.#take(),
      perform: (worker, isNew) => run.on(boundTo(worker, job), () => onStart(isNew ? "new" : "kept")),
    });
  }

  #prepare(): void {
    if (this.isOver || this.#spare) return;
    const worker = new ProcessWorker(this.#options.kind);
    this.#spare = worker;
    this.#workers.add(worker);
    void this.#forget(worker);
  }

  async #forget(worker: ProcessWorker): Promise<void> {
    await worker.ended;
    if (this.#spare === worker) this.#spare = undefined;
    await worker.gone();
    this.#workers.delete(worker);
  }

  #take(): ProcessWorker {
    this.#prepare();
    const worker = this.#spare!;
    this.#spare = undefined;
    // The next worker is prepared only after this one has started, because a caller waits for this one.
    void worker.ready.then(() => this.#prepare());
    return worker;
  }
}

const NOTHING = new Uint8Array(0);
/** Time limit that never applies: longer than any run, and still valid for a timer. */
const UNCOUNTED_MS = 2 ** 31 - 10_000;

/** Returns the worker of a run, with the job and its real limits in place of the job that the run would send. */
function boundTo(worker: RunWorker, job: SandboxJob): RunWorker {
  return {
    ready: worker.ready,
    ended: worker.ended,
    listen: (onMessage) => worker.listen(onMessage),
    send: (message) => worker.send(message.type === "job" ? { type: "job", job } : message),
    afterJob: (maxWaitMs) => worker.afterJob(maxWaitMs),
    end: () => worker.end(),
  };
}
