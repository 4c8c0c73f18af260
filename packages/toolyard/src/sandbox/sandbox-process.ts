import { join } from "node:path";
import { spawnChild, type Child, type SpawnOptions } from "../process/child.ts";
import { cpuOf } from "../runtimes/warm/cpu-watch.ts";
import { isFromChild, toFileHeads, type ChildSettings, type FromChild, type ToChild } from "./child-messages.ts";
import type { SandboxHost, SandboxJob, SandboxOutcome } from "./engine.ts";
import { encodeFrame, FrameReader, type Frame } from "./frames.ts";
import { HubRun } from "./hub-run.ts";
import { distFolder, lockedArguments } from "./node-flags.ts";

/** Maximum time for the child to end a run that has ended on this side; after it, the child counts as unresponsive. */
const CANCEL_TIMEOUT_MS = 5000;
const CRASHED = "The sandbox ended unexpectedly, and the run with it. The next run starts a new one.";

export interface SandboxProcessOptions {
  readonly settings: ChildSettings;
  /** Maximum size of a frame from the child. */
  readonly maxFrameBytes: number;
  /**
   * Replaces Node and the child's program: the command and all its arguments except the settings. For tests, and for
   * engines that isolate the child.
   */
  readonly command?: readonly string[];
  /** Functions that open files for the process, on the descriptors after 3. */
  readonly files?: SpawnOptions["files"];
  /** Called when the number of sessions changes. */
  onSessions(): void;
}

/** The hub's handle of one sandbox child: its runs, and its end. */
export class SandboxProcess {
  sessions = 0;
  isOver = false;
  readonly pid: number;
  readonly #child: Child;
  readonly #options: SandboxProcessOptions;
  readonly #reader: FrameReader;
  readonly #runs = new Map<number, HubRun>();
  /** Runs that have ended on this side, with the time limit for the child's confirmation. */
  readonly #ending = new Map<number, NodeJS.Timeout>();
  #last = 0;

  /** Starts the child. Rejects with a `FailError` if the process cannot be started. */
  static async start(options: SandboxProcessOptions): Promise<SandboxProcess> {
    const settings = JSON.stringify(options.settings);
    const [command, ...args] = options.command ?? [
      process.execPath,
      ...lockedArguments(options.settings),
      join(distFolder(), "sandbox", "child", "main.js"),
    ];
    return new SandboxProcess(
      await spawnChild({
        command: command!,
        args: [...args, settings],
        env: {},
        extraPipes: 1,
        ...(options.files ? { files: options.files } : {}),
      }),
      options,
    );
  }

  private constructor(child: Child, options: SandboxProcessOptions) {
    this.#child = child;
    this.pid = child.pid;
    this.#options = options;
    this.#reader = new FrameReader(options.maxFrameBytes);
    // Discards both streams: the child does not use stdout, and Node's own error text on stderr is not forwarded.
    child.stdout.resume();
    child.stderr.resume();
    child.pipes[0]!.on("data", (chunk: Buffer) => this.#read(chunk));
    void child.exited.then(() => this.#fall());
  }

  get runs(): number {
    return this.#runs.size;
  }

  async run(
    job: SandboxJob,
    host: SandboxHost,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: SandboxOutcome; readonly isStarted: boolean }> {
    this.#last += 1;
    const id = this.#last;
    const run = new HubRun({
      id,
      job,
      host,
      computedMs: () => cpuOf(this.pid) ?? NaN,
      send: (message) => this.#send(message),
      distrust: () => void this.kill(),
    });
    this.#runs.set(id, run);
    const cancel = (): void => run.fail("cancelled", "The caller cancelled the run or went away.");
    signal.addEventListener("abort", cancel, { once: true });
    if (this.isOver) run.fail("crashed", CRASHED);
    else {
      const { files, ...rest } = job;
      this.#send(
        { type: "job", run: id, job: rest, files: toFileHeads(files) },
        files.map(({ bytes }) => bytes),
      );
    }
    const outcome = await run.outcome;
    signal.removeEventListener("abort", cancel);
    // The child has not reported the end of the run, so it gets the command to end it within a time limit.
    if (this.#runs.delete(id) && !this.isOver) this.#endInChild(id);
    return { outcome, isStarted: run.isStarted };
  }

  /** Ends the process and everything in it. */
  async kill(): Promise<void> {
    this.#fall();
    await this.#child.kill(0);
  }

  #endInChild(id: number): void {
    this.#send({ type: "cancel", run: id });
    this.#ending.set(
      id,
      setTimeout(() => void this.kill(), CANCEL_TIMEOUT_MS),
    );
  }

  #send(message: ToChild, blobs: readonly Uint8Array[] = []): void {
    if (!this.isOver) this.#child.pipes[0]!.write(encodeFrame(message, blobs));
  }

  #read(chunk: Buffer): void {
    if (this.isOver) return;
    try {
      for (const frame of this.#reader.push(chunk)) this.#take(frame);
    } catch {
      // The child is ended, because after an invalid message it counts as controlled by the code.
      void this.kill();
    }
  }

  #take({ head, body }: Frame): void {
    if (!isFromChild(head)) throw new TypeError("The child sent a message of unknown shape.");
    if (head.type === "sessions") {
      this.sessions = head.count;
      return this.#options.onSessions();
    }
    this.#takeForRun(head, body);
  }

  #takeForRun(message: Exclude<FromChild, { readonly type: "sessions" }>, body: Uint8Array): void {
    if (message.type === "done") {
      clearTimeout(this.#ending.get(message.run));
      this.#ending.delete(message.run);
    }
    const run = this.#runs.get(message.run);
    if (message.type === "done") this.#runs.delete(message.run);
    // If the run has already ended, the message was sent before its end and is ignored.
    run?.take(message, body);
  }

  #fall(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const timer of this.#ending.values()) clearTimeout(timer);
    this.#ending.clear();
    for (const run of this.#runs.values()) run.fail("crashed", CRASHED);
    this.#child.pipes[0]!.destroy();
    void this.#child.kill(0);
  }
}
