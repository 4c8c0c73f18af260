import { spawnChild, type Child, type SpawnOptions } from "../../process/child.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { messageOf } from "../../core/errors.ts";
import { watchCpu } from "../../runtimes/warm/cpu-watch.ts";
import { WorkerReadiness } from "../child/readiness.ts";
import type { RunWorker, WorkerEnd } from "../child/run-worker.ts";
import { readFiles, toFileHeads } from "../child-messages.ts";
import type { SandboxJob, SandboxLimits } from "../engine.ts";
import { encodeFrame, FrameReader, type Frame } from "../frames.ts";
import { GuestOutput } from "../python/guest-output.ts";
import { cpuMessage } from "../run-clock.ts";
import type { FromWorker, ToWorker } from "../worker-messages.ts";
import { freeze, inodesOf, residentOf } from "./watch.ts";

/** Settings for starting an interpreter as a process that exchanges frames. */
export interface ProcessKind {
  /** Returns the command. Rejects with a message for the caller. */
  command(): Promise<Pick<SpawnOptions, "command" | "args" | "env" | "files">>;
  /**
   * Channel of the frames: a separate pipe (descriptor 3), or standard input and output, which then carry no output of
   * the code.
   */
  readonly channel: "pipe" | "standard";
  readonly maxFrameBytes: number;
  /** Frame that is sent first. */
  readonly greeting?: { readonly head: object; readonly body: Uint8Array };
  /** Folders in memory whose files are counted. */
  readonly scratch: readonly string[];
  /** True if the memory of the process is measured, for a runtime whose own limits do not cover all of it. */
  readonly countsMemory?: boolean;
  /** Prepares a job for the interpreter before it is sent. Rejects with an error of the code. */
  readonly prepare?: (job: SandboxJob, signal: AbortSignal) => Promise<object>;
}

/** Maximum time in milliseconds for which leftover processes of an ended interpreter may hold its pipes. */
const DRAIN_MS = 250;
/** Maximum number of bytes of output above the limit that are read and dropped. Above it, the process is ended. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;
/** Number of files and folders that are allowed in all in-memory folders together, in addition to those of the run. */
const SPARE_INODES = 4096;
const LOOK_EVERY_MS = 100;

/**
 * One interpreter in its own process. Its messages are not trusted: the receiver validates them, like those of a
 * thread.
 */
export class ProcessWorker implements RunWorker {
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  readonly #kind: ProcessKind;
  readonly #reader: FrameReader;
  readonly #stderr = new StderrTail();
  readonly #output = new GuestOutput((message) => this.#onMessage?.(message));
  readonly #readiness = new WorkerReadiness();
  readonly #leaving = new AbortController();
  #child: Child | undefined;
  #job: SandboxJob | undefined;
  #dropped = 0;
  #onMessage: ((message: unknown) => void) | undefined;
  #markReady!: () => void;
  #markEnded!: (end: WorkerEnd) => void;
  #unwatch: (() => void) | undefined;
  #isWaiting = false;
  #isFrozen = false;
  #isOver = false;

  constructor(kind: ProcessKind) {
    this.#kind = kind;
    this.#reader = new FrameReader(kind.maxFrameBytes);
    this.ended = new Promise((resolve) => (this.#markEnded = resolve));
    this.ready = new Promise((resolve) => (this.#markReady = resolve));
    void this.#start();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  listen(onMessage: ((message: unknown) => void) | undefined): void {
    this.#onMessage = onMessage;
  }

  afterJob(maxWaitMs: number): Promise<"free" | "busy" | "ended"> {
    return this.#readiness.state(this.ended, maxWaitMs);
  }

  send(message: ToWorker): void {
    if (message.type === "job") void this.#begin(message.job);
    else this.#write(message);
  }

  end(): void {
    this.#finish({ reason: "ended", detail: "" });
  }

  /** Resolves when no process of the interpreter is left. */
  async gone(): Promise<void> {
    await this.#child?.gone;
  }

  async #start(): Promise<void> {
    try {
      const line = await this.#kind.command();
      if (this.#isOver) return;
      const child = await spawnChild({ ...line, extraPipes: this.#kind.channel === "pipe" ? 1 : 0 });
      this.#child = child;
      if (this.#isOver) return void child.kill(0);
      this.#attend(child);
    } catch (error) {
      this.#finish({ reason: "crashed", detail: messageOf(error) });
    }
  }

  #attend(child: Child): void {
    const { channel, greeting } = this.#kind;
    child.stderr.on("data", (chunk: Buffer) => this.#take("stderr", chunk));
    if (channel === "pipe") child.stdout.on("data", (chunk: Buffer) => this.#take("stdout", chunk));
    (channel === "pipe" ? child.pipes[0]! : child.stdout).on("data", (chunk: Buffer) => this.#read(chunk));
    void child.drained(DRAIN_MS).then(() => this.#finish(afterExit(this.#stderr.lines())));
    if (greeting) this.#write(greeting.head, [greeting.body]);
  }

  async #begin(job: SandboxJob): Promise<void> {
    this.#thaw();
    this.#isWaiting = false;
    this.#readiness.given();
    this.#job = job;
    this.#dropped = 0;
    this.#output.begin(job.limits.outputBytes);
    try {
      const prepared = await this.#kind.prepare?.(job, this.#leaving.signal);
      const { files, ...rest } = job;
      this.#write(
        { type: "job", job: rest, files: toFileHeads(files), ...prepared },
        files.map(({ bytes }) => bytes),
      );
      if (!this.#isOver) this.#unwatch = this.#watch(job);
    } catch (error) {
      // The interpreter received nothing of the job, so it still waits for one.
      this.#job = undefined;
      this.#readiness.said();
      this.#onMessage?.({ type: "done", done: failedBefore(error) });
    }
  }

  #watch({ limits }: SandboxJob): () => void {
    const pid = this.#child?.pid;
    if (pid === undefined) return () => {};
    const unwatch = watchCpu(pid, limits.cpuMs, () =>
      this.#finish({ reason: "timeout", detail: cpuMessage(limits.cpuMs) }),
    );
    const mostBytes = this.#kind.countsMemory === true ? residentOf(pid) + limits.memoryBytes : Infinity;
    const timer = setInterval(() => void this.#look(pid, mostBytes, limits), LOOK_EVERY_MS);
    return () => {
      unwatch();
      clearInterval(timer);
    };
  }

  async #look(pid: number, mostBytes: number, limits: SandboxLimits): Promise<void> {
    if (residentOf(pid) > mostBytes) return this.#finish({ reason: "memory", detail: "" });
    const inodes = await inodesOf(pid, this.#kind.scratch);
    if (inodes > limits.files * 4 + SPARE_INODES)
      this.#finish({ reason: "limit", detail: "The code made too many files and folders. Make fewer." });
  }

  #write(head: object, blobs: readonly Uint8Array[] = []): void {
    if (this.#isOver || !this.#child) return;
    (this.#kind.channel === "pipe" ? this.#child.pipes[0]! : this.#child.stdin).write(encodeFrame(head, blobs));
  }

  #take(stream: "stdout" | "stderr", chunk: Buffer): void {
    if (this.#isOver) return;
    if (stream === "stderr") this.#stderr.push(chunk);
    // Standard error is ignored if the channel is standard, because it then contains only messages of the runtime.
    if (!this.#job || this.#kind.channel === "standard") return;
    this.#output.write(stream, chunk);
    if (this.#output.truncated && (this.#dropped += chunk.length) > MAX_DROPPED_BYTES) {
      this.#finish({
        reason: "limit",
        detail: `The code wrote far more than the ${this.#job.limits.outputBytes} bytes that are kept. Print less.`,
      });
    }
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      for (const frame of this.#reader.push(chunk)) this.#receive(frame);
    } catch {
      this.#finish({ reason: "crashed", detail: "It sent an invalid message." });
    }
  }

  #receive({ head, body }: Frame): void {
    if (!isJsonObject(head)) return this.#finish({ reason: "crashed", detail: "It sent an invalid message." });
    if (head["type"] === "ready") return this.#rest();
    if (!this.#job) return;
    if (head["type"] === "output" && this.#kind.channel === "pipe") return;
    if (head["type"] === "done") return void this.#done(head["done"], head["files"], Buffer.from(body));
    this.#onMessage?.(head);
  }

  async #done(done: unknown, heads: unknown, body: Buffer): Promise<void> {
    this.#unwatch?.();
    // Waits for another turn of the event loop, which reads the code's last output from the pipes.
    for (let round = 0; round < 2; round += 1) await new Promise((resolve) => setImmediate(resolve));
    this.#output.flush();
    const artifacts = readFiles(heads, body);
    this.#job = undefined;
    const isTruncated = isJsonObject(done) && (done["truncated"] === true || this.#output.truncated);
    this.#freezeIfIdle();
    this.#onMessage?.({
      type: "done",
      done: isJsonObject(done) ? { ...done, truncated: isTruncated, artifacts } : done,
    } satisfies { readonly type: FromWorker["type"]; readonly done: unknown });
  }

  /**
   * Freezes the process while it waits for a job. Between two jobs of a session, threads of the code could otherwise
   * compute without being measured.
   */
  #rest(): void {
    this.#readiness.said();
    this.#markReady();
    this.#isWaiting = true;
    this.#freezeIfIdle();
  }

  #freezeIfIdle(): void {
    // A process that has not run any code yet is not frozen.
    if (this.#isOver || this.#job || !this.#isWaiting || !this.#unwatch) return;
    this.#isFrozen = true;
    freeze(this.#child!.pid, true);
  }

  #thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    if (!this.#isOver && this.#child) freeze(this.#child.pid, false);
  }

  #finish(end: WorkerEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leaving.abort();
    this.#unwatch?.();
    if (this.#job) this.#output.flush();
    this.#onMessage = undefined;
    void this.#child?.kill(0);
    this.#markEnded(end);
    this.#markReady();
  }
}

function afterExit(words: readonly string[]): WorkerEnd {
  const isMemory = words.some((line) => /out of memory|Allocation failed|MemoryError/iu.test(line));
  return { reason: isMemory ? "memory" : "crashed", detail: "" };
}

function failedBefore(error: unknown): object {
  const { name = "Error", line } = error as { readonly name?: string; readonly line?: number };
  const message = messageOf(error);
  return {
    end: "error",
    error: { type: name, message, traceback: line === undefined ? "" : `${name}: ${message}\n    at line ${line}` },
    truncated: false,
    artifacts: [],
  };
}
