import {
  readFiles,
  toFileHeads,
  type ChildSettings,
  type FromChild,
  type InterpreterName,
  type ToChild,
} from "../child-messages.ts";
import type { SandboxJob, SandboxLanguage } from "../engine.ts";
import { ownerOf } from "../owner.ts";
import { encodeFrame, type Frame } from "../frames.ts";
import type { WorkerDone } from "../worker-messages.ts";
import { WorkerRun } from "./child-run.ts";
import { refused, runInSession } from "./in-session.ts";
import { InterpreterSessions } from "./sessions.ts";
import { WorkerPool } from "./worker-pool.ts";

/** The runs of this child. Each gets a worker, which is released afterwards. */
export class ChildRuns {
  readonly #settings: ChildSettings;
  readonly #write: (frame: Buffer) => void;
  readonly #pool: WorkerPool;
  readonly #sessions: InterpreterSessions;
  readonly #runs = new Map<number, WorkerRun>();

  constructor(settings: ChildSettings, write: (frame: Buffer) => void) {
    this.#settings = settings;
    this.#write = write;
    this.#pool = new WorkerPool(settings);
    this.#sessions = new InterpreterSessions(settings, (count) => this.#tell({ type: "sessions", count }));
    this.#pool.prepare(settings.first);
  }

  /** Handles a frame of the hub, which is trusted because it started this process. */
  take({ head, body }: Frame): void {
    const message = head as ToChild;
    if (message.type === "job")
      void this.#run(message.run, { ...message.job, files: readFiles(message.files, body) ?? [] });
    else if (message.type === "reply") this.#runs.get(message.run)?.reply(message);
    else this.#runs.get(message.run)?.cancel();
  }

  async #run(id: number, job: SandboxJob): Promise<void> {
    // The hub enforces this limit too. It is checked again here, because each worker is a thread.
    if (this.#runs.size >= this.#settings.runs * 2)
      return this.#tellDone(id, refused("The sandbox is busy. Try again in a moment."));
    const run = new WorkerRun(job, (message) => this.#tell({ ...message, run: id }));
    this.#runs.set(id, run);
    try {
      this.#tellDone(
        id,
        await (job.session === undefined ? this.#once(run, id) : this.#inSession(run, id, job.session)),
      );
    } finally {
      this.#runs.delete(id);
    }
  }

  /** Runs a job on a new worker. Ends the worker afterwards, even if it reports that it is ready. */
  async #once(run: WorkerRun, id: number): Promise<WorkerDone> {
    const worker = this.#pool.take(interpreterOf(run.job.language));
    try {
      return await run.on(worker, () => this.#tell({ type: "started", run: id }));
    } finally {
      worker.end();
    }
  }

  #inSession(run: WorkerRun, id: number, key: string): Promise<WorkerDone> {
    const language = interpreterOf(run.job.language);
    return runInSession(this.#sessions, {
      key: `${language}:${key}`,
      owner: ownerOf(run.job),
      begin: () => this.#pool.take(language),
      perform: (worker, isNew) =>
        run.on(worker, () => this.#tell({ type: "started", run: id, session: isNew ? "new" : "kept" })),
    });
  }

  #tellDone(run: number, { artifacts, ...done }: WorkerDone): void {
    const message: FromChild = { type: "done", run, done, files: toFileHeads(artifacts) };
    this.#write(
      encodeFrame(
        message,
        artifacts.map(({ bytes }) => bytes),
      ),
    );
  }

  #tell(message: FromChild): void {
    this.#write(encodeFrame(message));
  }
}

function interpreterOf(language: SandboxLanguage): InterpreterName {
  return language === "python" ? "python" : "javascript";
}
