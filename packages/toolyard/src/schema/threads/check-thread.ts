import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { COMPILE_TIMEOUT_MS, CHECK_TIMEOUT_MS, MAX_KEPT_CHARS, START_TIMEOUT_MS, THREAD_HEAP_MB } from "./bounds.ts";
import type { CheckMessage, ThreadMessage, Verdict } from "./messages.ts";
import { WorkClock } from "./work-clock.ts";

/** One value to check, and the source that its schema belongs to. */
export interface CheckJob {
  readonly source: string;
  readonly key: string;
  /** The schema as JSON. */
  readonly text: string;
  readonly fillsDefaults: boolean;
  readonly value: unknown;
  /** Number of items in the value. */
  readonly items: number;
}

/** Result of a job that was interrupted for another job. */
export interface GivenWay {
  readonly type: "given way";
}

export type CheckedMessage = Extract<ThreadMessage, { type: "checked" }>;

/** Result of a job that exceeded the time or the memory of its thread in the step `at`. The thread was ended. */
export interface Overrun {
  readonly type: "overrun";
  readonly at: "start" | "compile" | "check";
  readonly of: "time" | "memory";
}

const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: THREAD_HEAP_MB,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 4,
} as const;
/** Time limits for the steps of a job, as processor time. */
export type StepLimits = Readonly<Record<Overrun["at"], number>>;

const LIMITS_MS: StepLimits = { start: START_TIMEOUT_MS, compile: COMPILE_TIMEOUT_MS, check: CHECK_TIMEOUT_MS };

interface RunningJob {
  readonly job: CheckJob;
  readonly onVerdict: (verdict: Verdict) => void;
  readonly settle: (result: CheckedMessage | Overrun | GivenWay) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A thread that runs one job at a time, and has ended after an overrun. It keeps the process alive only during a job.
 */
export class CheckThread {
  readonly #worker: Worker;
  readonly #known = new Set<string>();
  #keptChars = 0;
  #isReady = false;
  #at: Overrun["at"] = "start";
  readonly #limitsMs: StepLimits;
  readonly #clock = new WorkClock();
  #job: RunningJob | undefined;
  readonly #createdAt = performance.now();
  #startedMs = 0;
  #sentAt: number | undefined;

  constructor(limitsMs: StepLimits = LIMITS_MS) {
    this.#limitsMs = limitsMs;
    this.#worker = new Worker(workerFile(), { env: {}, argv: [], execArgv: [], resourceLimits: RESOURCE_LIMITS });
    this.#worker.unref();
    this.#worker.on("message", (message: ThreadMessage) => this.#heed(message));
    this.#worker.on("error", () => this.#overrun("memory"));
    this.#worker.on("exit", () => this.#overrun("memory"));
  }

  /** True if the thread keeps so many compiled schemas that a new thread should replace it. */
  get isFull(): boolean {
    return this.#keptChars > MAX_KEPT_CHARS;
  }

  /** Time that the thread took to start. */
  get startedMs(): number {
    return this.#startedMs;
  }

  /** Time since the current job began. */
  get workedMs(): number {
    return this.#sentAt === undefined ? 0 : performance.now() - this.#sentAt;
  }

  /** Runs a job. Rejects if the value cannot be sent. After any result other than `checked`, the thread has ended. */
  run(job: CheckJob, onVerdict: (verdict: Verdict) => void): Promise<CheckedMessage | Overrun | GivenWay> {
    return new Promise((resolve, reject) => {
      const over =
        <V>(settle: (value: V) => void) =>
        (value: V): void => {
          this.#clock.stop();
          this.#worker.unref();
          this.#job = undefined;
          this.#sentAt = undefined;
          settle(value);
        };
      this.#worker.ref();
      this.#job = { job, onVerdict, settle: over(resolve), fail: over(reject) };
      if (this.#isReady) this.#send(this.#job);
      else this.#watch("start");
    });
  }

  /** Ends the thread in the middle of its job. This does not count as a fault of the schema. */
  giveWay(): void {
    this.end();
    this.#job?.settle(GIVEN_WAY);
  }

  end(): void {
    this.#clock.stop();
    void this.#worker.terminate();
  }

  #send({ job: { key, text, fillsDefaults, value }, fail }: RunningJob): void {
    const isKnown = this.#known.has(key);
    const message: CheckMessage = { key, fillsDefaults, value, ...(!isKnown && { text }) };
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.#worker.postMessage(message);
    } catch (error) {
      return fail(error);
    }
    this.#sentAt = performance.now();
    this.#watch(isKnown ? "check" : "compile");
    if (isKnown) return;
    this.#known.add(key);
    this.#keptChars += text.length;
  }

  #heed(message: ThreadMessage): void {
    if (message.type === "ready") {
      this.#isReady = true;
      this.#startedMs = performance.now() - this.#createdAt;
      if (this.#job) this.#send(this.#job);
    } else if (message.type === "verdict") {
      this.#watch("check");
      this.#job?.onVerdict(message.verdict);
    } else this.#job?.settle(message);
  }

  #watch(at: Overrun["at"]): void {
    this.#at = at;
    this.#clock.start(this.#limitsMs[at], () => this.#overrun("time"));
  }

  #overrun(of: Overrun["of"]): void {
    this.end();
    this.#job?.settle({ type: "overrun", at: this.#at, of });
  }
}

const GIVEN_WAY: GivenWay = Object.freeze({ type: "given way" });
const THREADS_FOLDER = join("schema", "threads");

/**
 * Returns the path of the worker file. Node loads it itself, so `dist` is used if this code runs from source, as in
 * tests.
 */
function workerFile(): string {
  const here = fileURLToPath(import.meta.url);
  if (!here.endsWith(".ts")) return fileURLToPath(new URL("worker.js", import.meta.url));
  return join(here.slice(0, here.lastIndexOf(join("src", THREADS_FOLDER))), "dist", THREADS_FOLDER, "worker.js");
}
