import { IDLE_MS, MAX_THREADS_OF_SOURCE } from "./bounds.ts";
import { CheckThread, type CheckJob, type Done, type Overrun } from "./check-thread.ts";
import type { Verdict } from "./messages.ts";

/** A job for a lane. */
export interface LaneJob extends CheckJob {
  /** Whether it still has to be done by the time that it would be begun. */
  isWanted(): boolean;
  onVerdict(verdict: Verdict): void;
}

/** What came of it; `dropped`: it was not wanted any more, or the lane was closed. */
export type LaneResult = Done | Overrun | { readonly type: "dropped" };

interface Waiting {
  readonly job: LaneJob;
  readonly settle: (result: LaneResult) => void;
  readonly fail: (error: unknown) => void;
}

/** Jobs that wait for a few threads: sources take turns, and each has few threads at a time. */
export class Lane {
  readonly #maxThreads: number;
  readonly #free: CheckThread[] = [];
  readonly #busy = new Set<CheckThread>();
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<string, number>();
  /** When each waiting source had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(maxThreads: number) {
    this.#maxThreads = maxThreads;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Rejects when the value cannot be sent to a thread. */
  run(job: LaneJob): Promise<LaneResult> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ job, settle, fail });
      this.#fillThreads();
    });
  }

  /** Ends all threads, and drops what waits for them. */
  close(): void {
    clearTimeout(this.#idle);
    for (const { settle } of this.#waiting.splice(0)) settle(DROPPED);
    for (const thread of [...this.#free.splice(0), ...this.#busy]) thread.end();
  }

  #fillThreads(): void {
    clearTimeout(this.#idle);
    while (this.#busy.size < this.#maxThreads) {
      const job = this.#nextJob();
      if (!job) break;
      void this.#run(job);
    }
    if (this.#waiting.length === 0) this.#turns.clear();
    if (this.#busy.size === 0) this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }

  #nextJob(): Waiting | undefined {
    const dropped = this.#waiting.filter(({ job }) => !job.isWanted());
    for (const { settle } of dropped) settle(DROPPED);
    if (dropped.length > 0) this.#waiting.splice(0, Infinity, ...this.#waiting.filter((one) => !dropped.includes(one)));
    let best: Waiting | undefined;
    for (const one of this.#waiting) {
      if ((this.#running.get(one.job.source) ?? 0) >= MAX_THREADS_OF_SOURCE) continue;
      if (!best || this.#lastTurn(one) < this.#lastTurn(best)) best = one;
    }
    if (best) this.#waiting.splice(this.#waiting.indexOf(best), 1);
    return best;
  }

  #lastTurn({ job }: Waiting): number {
    return this.#turns.get(job.source) ?? 0;
  }

  async #run({ job, settle, fail }: Waiting): Promise<void> {
    const { source } = job;
    this.#turns.set(source, (this.#turn += 1));
    this.#running.set(source, (this.#running.get(source) ?? 0) + 1);
    const thread = this.#free.pop() ?? new CheckThread();
    this.#busy.add(thread);
    let isOver = false;
    try {
      const result = await thread.run(job, (verdict) => job.onVerdict(verdict));
      isOver = result.type === "overrun" || thread.isFull;
      settle(result);
    } catch (error) {
      isOver = true;
      fail(error);
    }
    this.#busy.delete(thread);
    if (isOver) thread.end();
    else this.#free.push(thread);
    const left = this.#running.get(source)! - 1;
    if (left === 0) this.#running.delete(source);
    else this.#running.set(source, left);
    this.#fillThreads();
  }
}

const DROPPED: LaneResult = Object.freeze({ type: "dropped" });
