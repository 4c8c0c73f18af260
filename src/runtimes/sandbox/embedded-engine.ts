import { messageOf } from "../../core/errors.ts";
import { childPaths } from "./node-flags.ts";
import type { ChildSettings, Interpreter } from "./child-messages.ts";
import { checkJob, withinBounds } from "./check-job.ts";
import type { SandboxEnd, SandboxEngine, SandboxHost, SandboxJob, SandboxLanguage, SandboxOutcome } from "./engine.ts";
import { resolveSandbox, type SandboxOptions } from "./options.ts";
import { RunSlots } from "./run-slots.ts";
import { SandboxProcess } from "./sandbox-process.ts";
import { SessionBook } from "./session-book.ts";

/** A run that finds no slot for this long is refused. */
const MAX_QUEUE_MS = 30_000;
/** What a frame holds beside results, arguments and files. */
const FRAME_SLACK_BYTES = 1024 * 1024;
/** A child that ends before it began a run is followed by another, once. */
const MAX_ATTEMPTS = 2;

/** Seams for tests, and for engines that put a wall of their own around the same child. */
export interface EmbeddedEngineSeams {
  readonly name?: string;
  readonly isolation?: string;
  /** What starts the child, see `SandboxProcessOptions.command`. */
  readonly command?: (settings: ChildSettings) => readonly string[];
}

/**
 * The engine that is always there: interpreters in WebAssembly (QuickJS, CPython), each in a worker thread of one child process that
 * has no rights. Nothing is started before the first run.
 */
export function createEmbeddedEngine(options: SandboxOptions = resolveSandbox(), seams: EmbeddedEngineSeams = {}): EmbeddedEngine {
  return new EmbeddedEngine(options, seams);
}

export class EmbeddedEngine implements SandboxEngine {
  readonly name: string;
  readonly languages: readonly SandboxLanguage[] = ["python", "javascript", "typescript"];
  readonly isolation: string;
  readonly #options: SandboxOptions;
  readonly #seams: EmbeddedEngineSeams;
  readonly #slots: RunSlots;
  readonly #book = new SessionBook();
  #process: Promise<SandboxProcess> | undefined;
  #live: SandboxProcess | undefined;
  #active = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(options: SandboxOptions, seams: EmbeddedEngineSeams) {
    this.#options = options;
    this.#seams = seams;
    this.name = seams.name ?? "embedded";
    this.isolation = seams.isolation ?? "WebAssembly in a child process without rights";
    this.#slots = new RunSlots(options.runs, options.queue);
  }

  /** The process of the child, while there is one. */
  get pid(): number | undefined {
    return this.#live?.isOver === false ? this.#live.pid : undefined;
  }

  async unavailable(): Promise<string | undefined> {
    try {
      childPaths(this.#options.pythonWasm);
      return undefined;
    } catch {
      return "The packages `quickjs-wasi` and `sucrase` are not installed. Install this program with its dependencies.";
    }
  }

  async run(given: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxOutcome> {
    const begunAt = performance.now();
    const refuse = (end: SandboxEnd, type: string, message: string): SandboxOutcome => refused(end, type, message, begunAt);
    const job = withinBounds(given, this.#options);
    const problem = checkJob(job);
    if (problem !== undefined) return refuse("limit", "LimitError", problem);
    if (!(await this.#slots.take(MAX_QUEUE_MS, signal))) {
      if (signal.aborted) return refuse("cancelled", "Cancelled", "The caller cancelled the run or went away.");
      if (this.#isDisposed) return refuse("crashed", "Crashed", CLOSED);
      return refuse("busy", "Busy", `${this.#options.runs} runs are under way, and too many wait. Try again in a moment.`);
    }
    this.#active += 1;
    clearTimeout(this.#idleTimer);
    try {
      return await this.#attempt(job, host, signal, refuse);
    } finally {
      this.#slots.give();
      this.#active -= 1;
      this.#stopWhenIdle();
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#slots.close();
    clearTimeout(this.#idleTimer);
    const process = await this.#process?.catch(() => undefined);
    await process?.kill();
  }

  async #attempt(job: SandboxJob, host: SandboxHost, signal: AbortSignal, refuse: (end: SandboxEnd, type: string, message: string) => SandboxOutcome): Promise<SandboxOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      if (signal.aborted) return refuse("cancelled", "Cancelled", "The caller cancelled the run or went away.");
      if (this.#isDisposed) return refuse("crashed", "Crashed", CLOSED);
      let process: SandboxProcess;
      try {
        process = await this.#start(job.language === "python" ? "python" : "javascript");
      } catch (error) {
        return refuse("crashed", "Crashed", `The sandbox could not be started. ${messageOf(error)}`);
      }
      const { outcome, isStarted } = await process.run(job, host, signal);
      // Nothing of the code ran yet, so that a second attempt is the first one for it.
      if (outcome.end === "crashed" && !isStarted && process.isOver && attempt < MAX_ATTEMPTS && !this.#isDisposed) continue;
      return this.#book.noted(job, outcome);
    }
  }

  async #start(first: Interpreter): Promise<SandboxProcess> {
    if (this.#process && this.#live?.isOver !== true) return this.#process;
    const starting = SandboxProcess.start(this.#processOptions(first));
    this.#live = undefined;
    this.#process = starting;
    try {
      const process = await starting;
      this.#live = process;
      // Whoever closed meanwhile waits for this start, and ends what came of it.
      return process;
    } catch (error) {
      if (this.#process === starting) this.#process = undefined;
      throw error;
    }
  }

  #processOptions(first: Interpreter): Parameters<typeof SandboxProcess.start>[0] {
    const { limits, runs, sessions, sessionIdleMs, pythonWasm } = this.#options;
    const { fileBytes, resultBytes, toolBytes, outputBytes, memoryBytes } = limits;
    // Text may grow sixfold as JSON inside JSON.
    const maxFrameBytes = fileBytes + 6 * (Math.max(resultBytes, toolBytes) + outputBytes) + FRAME_SLACK_BYTES;
    const settings: ChildSettings = { ...childPaths(pythonWasm), memoryBytes, maxFrameBytes, runs, sessions, sessionIdleMs, first };
    const { command } = this.#seams;
    return { settings, maxFrameBytes, onSessions: () => this.#stopWhenIdle(), ...(command ? { command: command(settings) } : {}) };
  }

  /** Without runs and sessions the child is not kept for long. */
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

function refused(end: SandboxEnd, type: string, message: string, begunAt: number): SandboxOutcome {
  const durationMs = Math.round(performance.now() - begunAt);
  return { end, stdout: "", stderr: "", error: { type, message, traceback: "" }, toolCalls: [], artifacts: [], truncated: false, durationMs };
}
