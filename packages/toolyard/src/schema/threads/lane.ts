import { IDLE_MS, MAX_THREADS_OF_SOURCE, SLICE_GROWTH, SLICE_MS, SLICE_STARTS } from "./bounds.ts";
import { CheckThread, type CheckJob, type CheckedMessage, type Overrun } from "./check-thread.ts";
import type { Verdict } from "./messages.ts";

/** A job for a lane. */
export interface LaneJob extends CheckJob {
  /** Returns whether the result is still needed when the job would start. */
  isWanted(): boolean;
  onVerdict(verdict: Verdict): void;
}

/** Result; `dropped`: no longer needed, or the lane was closed. */
export type LaneResult = CheckedMessage | Overrun | { readonly type: "dropped" };

interface QueuedJob {
  readonly job: LaneJob;
  /** Number of times that the job was started and interrupted. */
  readonly attempts: number;
  readonly settle: (result: LaneResult) => void;
  readonly fail: (error: unknown) => void;
}

/** The members of a thread that a lane uses. */
export type LaneThread = Pick<CheckThread, "run" | "giveWay" | "end" | "isFull" | "workedMs" | "startedMs">;

interface LaneRun extends QueuedJob {
  readonly thread: LaneThread;
}

/**
 * Queue for a few threads. Sources take turns, and each uses few threads at a time. If others wait, a job is
 * interrupted after a while, so that fast jobs never wait for a slow one, even of their own source.
 */
export class Lane {
  readonly #maxThreads: number;
  readonly #createThread: () => LaneThread;
  readonly #free: LaneThread[] = [];
  readonly #busy = new Set<LaneRun>();
  readonly #waiting: QueuedJob[] = [];
  /** Number of the turn in which each waiting source was last served. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #idle: NodeJS.Timeout | undefined;
  #room: NodeJS.Timeout | undefined;

  constructor(maxThreads: number, createThread: () => LaneThread = () => new CheckThread()) {
    this.#maxThreads = maxThreads;
    this.#createThread = createThread;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs a job when a thread is free. Rejects if the value cannot be sent to a thread. */
  run(job: LaneJob): Promise<LaneResult> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ job, attempts: 0, settle, fail });
      this.#fillThreads();
    });
  }

  /** Ends all threads, and drops the waiting jobs. */
  close(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#room);
    for (const { settle } of this.#waiting.splice(0)) settle(DROPPED);
    for (const thread of [...this.#free.splice(0), ...Array.from(this.#busy, (one) => one.thread)]) thread.end();
  }

  #fillThreads(): void {
    clearTimeout(this.#idle);
    while (this.#busy.size < this.#maxThreads) {
      const job = this.#nextJob();
      if (!job) break;
      void this.#run(job);
    }
    if (this.#waiting.length === 0) this.#turns.clear();
    this.#makeRoom();
    if (this.#busy.size === 0) this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }

  #nextJob(): QueuedJob | undefined {
    const dropped = this.#waiting.filter(({ job }) => !job.isWanted());
    for (const { settle } of dropped) settle(DROPPED);
    if (dropped.length > 0) this.#waiting.splice(0, Infinity, ...this.#waiting.filter((one) => !dropped.includes(one)));
    const [best] = this.#waiting
      .filter(({ job }) => this.#runningOf(job.source).length < MAX_THREADS_OF_SOURCE)
      .toSorted((one, other) => this.#lastTurn(one) - this.#lastTurn(other) || one.attempts - other.attempts);
    if (best) this.#waiting.splice(this.#waiting.indexOf(best), 1);
    return best;
  }

  #runningOf(source: string): LaneRun[] {
    return Array.from(this.#busy).filter(({ job }) => job.source === source);
  }

  /** Interrupts the running job for which others have waited long enough: immediately, or when its time is up. */
  #makeRoom(): void {
    clearTimeout(this.#room);
    const [first] = this.#waiting
      .flatMap((one) => this.#inTheWayOf(one).map((running) => ({ running, inMs: msToGiveWay(running, one) })))
      .toSorted((one, other) => one.inMs - other.inMs);
    if (!first || first.inMs === Infinity) return;
    if (first.inMs <= 0) first.running.thread.giveWay();
    else this.#room = setTimeout(() => this.#makeRoom(), Math.ceil(first.inMs)).unref();
  }

  /**
   * Returns the running jobs that block a waiting job. If its source uses all its threads, these are the jobs of the
   * source. If all threads of the lane are busy, these are all jobs.
   */
  #inTheWayOf({ job }: QueuedJob): LaneRun[] {
    const own = this.#runningOf(job.source);
    if (own.length >= MAX_THREADS_OF_SOURCE) return own;
    return this.#busy.size >= this.#maxThreads ? Array.from(this.#busy) : [];
  }

  #lastTurn({ job }: QueuedJob): number {
    return this.#turns.get(job.source) ?? 0;
  }

  async #run(waiting: QueuedJob): Promise<void> {
    const { job, settle, fail } = waiting;
    this.#turns.set(job.source, (this.#turn += 1));
    const thread = this.#free.pop() ?? this.#createThread();
    const running: LaneRun = { ...waiting, thread };
    this.#busy.add(running);
    let isOver = true;
    try {
      const result = await thread.run(job, (verdict) => job.onVerdict(verdict));
      isOver = result.type !== "checked" || thread.isFull;
      if (result.type === "given way") this.#waiting.push({ ...waiting, attempts: waiting.attempts + 1 });
      else settle(result);
    } catch (error) {
      fail(error);
    }
    this.#busy.delete(running);
    if (isOver) thread.end();
    else this.#free.push(thread);
    this.#fillThreads();
  }
}

/**
 * Returns the time until a running job is interrupted for a waiting one. A job is never interrupted for a job with the
 * same schema. If the waiting job was started less often, the running job keeps only the time of a first attempt.
 */
function msToGiveWay({ job, attempts, thread }: LaneRun, waiting: QueuedJob): number {
  if (waiting.job.key === job.key) return Infinity;
  const leastMs = Math.max(SLICE_MS, SLICE_STARTS * thread.startedMs);
  const sliceMs = leastMs * SLICE_GROWTH ** (attempts > waiting.attempts ? 0 : attempts);
  return sliceMs - thread.workedMs;
}

const DROPPED: LaneResult = Object.freeze({ type: "dropped" });
