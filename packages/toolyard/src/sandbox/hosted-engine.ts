import { messageOf } from "../core/errors.ts";
import { FairLine } from "../core/fairness/fair-line.ts";
import { checkJob, withinBounds } from "./check-job.ts";
import type { InterpreterName } from "./child-messages.ts";
import type { SandboxEnd, SandboxEngine, SandboxHost, SandboxJob, SandboxLanguage, SandboxOutcome } from "./engine.ts";
import type { SandboxOptions } from "./options.ts";
import { ownerOf } from "./owner.ts";
import { SessionBook } from "./session-book.ts";

/**
 * Maximum time in the queue. A run whose principal has less than its share of slots may wait longer: as long as the
 * longest possible run.
 */
const MAX_QUEUE_MS = 30_000;
/** Number of attempts. If a host ends before it has started the run, the run is sent to another host once. */
const MAX_ATTEMPTS = 2;

/** Runs jobs for an engine: one child process with all workers, or a pool of processes. */
export interface RunHost {
  /** Number of open sessions. The host is kept while there are any. */
  readonly sessions: number;
  /** True if the host has ended, so that the next run needs another one. */
  readonly isOver: boolean;
  /** Process id, if the host is a process. */
  readonly pid?: number | undefined;
  /** Runs a job. `isStarted` becomes true when code of the run may have had an effect. */
  run(
    job: SandboxJob,
    host: SandboxHost,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: SandboxOutcome; readonly isStarted: boolean }>;
  /** Ends the host and everything in it. */
  kill(): Promise<void>;
}

export interface HostedEngineParts {
  readonly name: string;
  readonly languages: readonly SandboxLanguage[];
  readonly isolation: string;
  unavailable(): Promise<string | undefined>;
  /**
   * Returns a sentence about an installation that the language needs and this machine lacks; `undefined` if it lacks
   * none.
   */
  missingFor?(language: SandboxLanguage): string | undefined;
  /**
   * Starts a host. `first`: language of the first run. `onSessions`: called when the number of sessions changes.
   * Rejects with a message for the caller.
   */
  start(first: InterpreterName, onSessions: () => void): Promise<RunHost>;
}

/** Behaviour that all engines share: slots, queue, start and stop of the host. Starts nothing before the first run. */
export class HostedEngine implements SandboxEngine {
  readonly name: string;
  readonly languages: readonly SandboxLanguage[];
  readonly isolation: string;
  readonly #options: SandboxOptions;
  readonly #parts: HostedEngineParts;
  readonly #slots: FairLine;
  readonly #book = new SessionBook();
  #host: Promise<RunHost> | undefined;
  #live: RunHost | undefined;
  #active = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(options: SandboxOptions, parts: HostedEngineParts) {
    this.#options = options;
    this.#parts = parts;
    this.name = parts.name;
    this.languages = parts.languages;
    this.isolation = parts.isolation;
    const { runs: places, queue: waiting, principals = 1 } = options;
    this.#slots = new FairLine({ places, waiting, principals });
  }

  /** Process id of the child; undefined if there is none. */
  get pid(): number | undefined {
    return this.#live?.isOver === false ? this.#live.pid : undefined;
  }

  async unavailable(language?: SandboxLanguage): Promise<string | undefined> {
    const problem = await this.#parts.unavailable();
    return problem ?? (language === undefined ? undefined : this.#parts.missingFor?.(language));
  }

  async run(given: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxOutcome> {
    const begunAt = performance.now();
    const refuse: Refuse = (end, type, message) => ({
      ...refused(end, type, message),
      durationMs: Math.round(performance.now() - begunAt),
    });
    const job = withinBounds(given, this.#options);
    const problem = checkJob(job);
    if (problem !== undefined) return refuse("limit", "LimitError", problem);
    const missing = this.#parts.missingFor?.(job.language);
    if (missing !== undefined) return refuse("unavailable", "Unavailable", missing);
    const owner = ownerOf(job);
    const owedWaitMs = Math.max(MAX_QUEUE_MS, this.#options.maxWallMs);
    if (!(await this.#slots.enter(owner, { cancellation: signal, waitMs: MAX_QUEUE_MS, owedWaitMs }))) {
      if (signal.aborted) return refuse("cancelled", "Cancelled", "The caller cancelled the run or went away.");
      if (this.#isDisposed) return refuse("crashed", "Crashed", CLOSED);
      return refuse(
        "busy",
        "Busy",
        `${this.#options.runs} runs are under way, and too many wait. Try again in a moment.`,
      );
    }
    this.#active += 1;
    clearTimeout(this.#idleTimer);
    try {
      return await this.#attempt({ job, host, signal }, refuse);
    } finally {
      this.#slots.leave(owner);
      this.#active -= 1;
      this.#stopWhenIdle();
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#slots.close();
    clearTimeout(this.#idleTimer);
    const host = await this.#host?.catch(() => undefined);
    await host?.kill();
  }

  async #attempt({ job, host, signal }: QueuedRun, refuse: Refuse): Promise<SandboxOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      if (signal.aborted) return refuse("cancelled", "Cancelled", "The caller cancelled the run or went away.");
      if (this.#isDisposed) return refuse("crashed", "Crashed", CLOSED);
      let runs: RunHost;
      try {
        runs = await this.#start(job.language === "python" ? "python" : "javascript");
      } catch (error) {
        return refuse("crashed", "Crashed", `The sandbox could not be started. ${messageOf(error)}`);
      }
      const { outcome, isStarted } = await runs.run(job, host, signal);
      // The run is repeated only if none of its code was executed, so that no effect happens twice.
      if (outcome.end === "crashed" && !isStarted && runs.isOver && attempt < MAX_ATTEMPTS && !this.#isDisposed)
        continue;
      return this.#book.noted(job, outcome);
    }
  }

  async #start(first: InterpreterName): Promise<RunHost> {
    if (this.#host && this.#live?.isOver !== true) return this.#host;
    const starting = this.#parts.start(first, () => this.#stopWhenIdle());
    this.#live = undefined;
    this.#host = starting;
    try {
      const host = await starting;
      this.#live = host;
      // If `close` was called during this start, it waits for the start and closes the host.
      return host;
    } catch (error) {
      if (this.#host === starting) this.#host = undefined;
      throw error;
    }
  }

  /** Stops the child after a time without runs and sessions. */
  #stopWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    if (this.#isDisposed || this.#active > 0 || !this.#live || this.#live.isOver || this.#live.sessions > 0) return;
    this.#idleTimer = setTimeout(() => {
      if (this.#active === 0) void this.#live?.kill();
    }, this.#options.idleMs);
    this.#idleTimer.unref();
  }
}

const CLOSED = "The sandbox is closed.";

interface QueuedRun {
  readonly job: SandboxJob;
  readonly host: SandboxHost;
  readonly signal: AbortSignal;
}

type Refuse = (end: SandboxEnd, type: string, message: string) => SandboxOutcome;

function refused(end: SandboxEnd, type: string, message: string): Omit<SandboxOutcome, "durationMs"> {
  return {
    end,
    stdout: "",
    stderr: "",
    error: { type, message, traceback: "" },
    toolCalls: [],
    artifacts: [],
    truncated: false,
  };
}
