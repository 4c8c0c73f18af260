import { stringifyExact } from "../../core/json/exact-json.ts";
import { tooLargeResult, tooManyCalls, tooMuchMemory } from "../bound-messages.ts";
import type { SandboxEnd, SandboxError, SandboxJob } from "../engine.ts";
import { cpuMessage, wallMessage } from "../run-clock.ts";
import type { FromWorker, WorkerDone } from "../worker-messages.ts";
import { readGuestError } from "./guest-error.ts";
import type { GuestMachine, GuestOwner } from "./guest-machine.ts";
import { toGuestJson } from "./guest-mark.ts";
import type { HostOperation } from "./guest/host.ts";
import { HostCalls } from "./host-calls.ts";
import { answerPlain } from "./host-plain.ts";
import { JobClock } from "./job-clock.ts";
import type { JobFiles } from "./job-files.ts";
import { JobOutput } from "./job-output.ts";
import { JobTimers } from "./job-timers.ts";
import { SourceError, type SourceText } from "./source-error.ts";

export interface JobSurroundings {
  readonly vm: GuestMachine;
  readonly files: JobFiles;
  /** Converts the code to source text for the interpreter. Throws a `SourceError`. */
  source(job: SandboxJob): SourceText;
  /** Number of output pieces that are written immediately. @default all output is buffered */
  readonly promptPieces?: number;
  say(message: FromWorker): void;
}

/**
 * Minimum length in milliseconds of a pause that is reported. Shorter pauses count as computing, because reporting each
 * one would cost more than it saves.
 */
const WAIT_TOLD_AFTER_MS = 5;
/** Maximum number of consecutive failed promise jobs. After a failed job, the next one runs. */
const MAX_FAILED_JOBS = 1000;

/** One run of code, from its start to its end, including all its requests to the host. */
export class JobRun implements GuestOwner {
  readonly #job: SandboxJob;
  readonly #around: JobSurroundings;
  readonly #clock: JobClock;
  readonly #calls: HostCalls;
  readonly #timers: JobTimers;
  readonly #output: JobOutput;
  readonly #finished: Promise<WorkerDone>;
  #finish!: (done: WorkerDone) => void;
  #isFinished = false;
  #wrapperChars = 0;
  /** Result of the code itself. Work that the code started may still be running. */
  #outcome: { readonly json: string | undefined } | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #waitTimer: NodeJS.Timeout | undefined;
  #isWaitTold = false;

  constructor(job: SandboxJob, around: JobSurroundings) {
    this.#job = job;
    this.#around = around;
    this.#clock = new JobClock(job.limits);
    this.#calls = new HostCalls(job, around.say, () =>
      this.#fail("limit", "LimitError", tooManyCalls(job.limits.toolCalls)),
    );
    this.#timers = new JobTimers((id) => this.#enter(() => void around.vm.call("fire", id)));
    this.#output = new JobOutput(
      job.limits.outputBytes,
      (stream, text) => around.say({ type: "output", stream, text }),
      around.promptPieces,
    );
    this.#finished = new Promise((resolve) => (this.#finish = resolve));
  }

  run(): Promise<WorkerDone> {
    const { vm, files } = this.#around;
    vm.owner = this;
    vm.forgetRejections();
    files.begin(this.#job.files, this.#job.limits);
    this.#alarm = setTimeout(() => this.#timeOut(), this.#clock.leftMs + 1);
    this.#enter(() => this.#start());
    return this.#finished;
  }

  reply({ id, ok, json }: { readonly id: number; readonly ok: boolean; readonly json: string }): void {
    if (!this.#calls.answered(id)) return;
    this.#enter(() => void this.#around.vm.call("settle", String(id), ok, toGuestJson(json)));
  }

  answer(operation: HostOperation, first: string, second: string | Uint8Array): string | Uint8Array | undefined {
    if (this.#isFinished) return undefined;
    switch (operation) {
      case "print":
        return void this.#output.print(first === "stderr" ? "stderr" : "stdout", String(second));
      case "call":
      case "search":
        return void this.#calls.ask(operation, Number(first), String(second));
      case "timer":
        return void this.#timers.set(first, String(second));
      case "untimer":
        return void this.#timers.clear(first);
      case "done":
        this.#outcome = { json: first === "" ? undefined : first };
        return undefined;
      case "failed":
        return void this.#failWith(first);
      default:
        return answerPlain(operation, [first, second], this.#around.files);
    }
  }

  isOver(): boolean {
    return this.#isFinished || this.#clock.over() !== undefined;
  }

  #start(): void {
    const { vm } = this.#around;
    vm.call("begin", toGuestJson(stringifyExact(this.#job.inputs)), this.#job.profile === "scripting");
    const source = this.#around.source(this.#job);
    const { promise, isWrapped } = vm.evaluate(source);
    if (isWrapped) this.#wrapperChars = source.wrapperChars;
    vm.call("watch", promise, isWrapped, source.code);
    promise.dispose();
  }

  /**
   * Runs a piece of code. All code runs through this method, which counts its time and then checks whether the run may
   * continue.
   */
  #enter(work: () => void): void {
    if (this.#isFinished) return;
    this.#waits(false);
    this.#clock.enter();
    try {
      work();
      this.#runJobs();
    } catch (error) {
      this.#thrown(error);
    }
    this.#around.vm.whenQuiet(() => {
      this.#clock.leave();
      this.#after();
    });
  }

  #runJobs(): void {
    for (let failed = 0; failed < MAX_FAILED_JOBS && !this.isOver(); failed += 1) {
      try {
        return this.#around.vm.runJobs();
      } catch (error) {
        if (isTrap(error)) throw error;
      }
    }
  }

  #thrown(error: unknown): void {
    if (this.#isFinished || this.#clock.over()) return;
    if (error instanceof SourceError) {
      const place = `    at ${this.#job.language === "typescript" ? "code.ts" : "code.js"}:${error.line}`;
      return this.#end("error", {
        type: "SyntaxError",
        message: error.message,
        traceback: `SyntaxError: ${error.message}\n${place}`,
      });
    }
    const described = this.#around.vm.describe(error);
    if (described !== undefined) return this.#failWith(described);
    this.#fail("crashed", "Crashed", "The interpreter failed and was ended.");
  }

  #after(): void {
    if (this.#isFinished) return;
    if (this.#clock.over()) return this.#timeOut();
    this.#output.flush();
    if (this.#outcome && this.#calls.isQuiet && this.#timers.isQuiet) return this.#complete(this.#outcome.json);
    if (!this.#outcome && this.#calls.isQuiet && this.#timers.isEmpty) {
      return this.#fail("error", "Error", "The code waits for a promise that nothing will ever settle.");
    }
    this.#waits(true);
  }

  #complete(json: string | undefined): void {
    const rejection = this.#around.vm.firstRejection();
    if (rejection !== undefined) return this.#failWith(rejection);
    const { resultBytes } = this.#job.limits;
    const bytes = json === undefined ? 0 : Buffer.byteLength(json);
    if (bytes > resultBytes) {
      return this.#fail("limit", "LimitError", tooLargeResult(resultBytes, bytes));
    }
    this.#end("finished", undefined, json);
  }

  #timeOut(): void {
    const { wallMs, cpuMs } = this.#job.limits;
    this.#fail("timeout", "Timeout", this.#clock.over() === "cpu" ? cpuMessage(cpuMs) : wallMessage(wallMs));
  }

  /** Ends the run with an error of the code. */
  #failWith(json: string): void {
    const error = readGuestError(json, { code: this.#job.code, wrapperChars: this.#wrapperChars });
    const isMemory = OUT_OF_MEMORY[error.type]?.test(error.message) === true;
    if (!isMemory) return this.#end("error", error);
    this.#end("memory", {
      ...error,
      type: "MemoryError",
      message: tooMuchMemory(this.#job.limits.memoryBytes),
    });
  }

  #fail(end: SandboxEnd, type: string, message: string): void {
    this.#end(end, { type, message, traceback: "" });
  }

  #end(end: SandboxEnd, error?: SandboxError, resultJson?: string): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#alarm);
    clearTimeout(this.#waitTimer);
    this.#timers.dispose();
    this.#output.flush();
    this.#finish({
      end,
      ...(resultJson === undefined ? {} : { resultJson }),
      ...(error === undefined ? {} : { error }),
      artifacts: this.#around.files.artifacts(),
      truncated: this.#output.isTruncated,
    });
  }

  #waits(waits: boolean): void {
    clearTimeout(this.#waitTimer);
    if (waits) {
      this.#waitTimer = setTimeout(() => {
        this.#isWaitTold = true;
        this.#around.say({ type: "waiting", waits: true });
      }, WAIT_TOLD_AFTER_MS);
    } else if (this.#isWaitTold) {
      this.#isWaitTold = false;
      this.#around.say({ type: "waiting", waits: false });
    }
  }
}

/** Messages of interpreters that ran out of memory. */
const OUT_OF_MEMORY: Readonly<Record<string, RegExp>> = {
  InternalError: /^out of memory$/u,
  RangeError: /^Array buffer allocation failed/u,
};

/** Returns whether WebAssembly itself failed. The interpreter must then not be used again. */
function isTrap(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && error.name === "RuntimeError");
}
