import { messageOf } from "../../../core/errors.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { SharedQueues } from "../../../state/ports/shared-queues.ts";
import { inTime } from "./in-time.ts";

/** Part of BullMQ that the queue uses. */
export interface BullLibrary {
  readonly Queue: new (name: string, options: object) => BullQueue;
  readonly Worker: new (name: string, work: (job: BullJob) => Promise<void>, options: object) => BullWorker;
}

interface BullJob {
  readonly name: string;
  readonly data: { readonly hub?: string; readonly schedule?: string };
  changeDelay(ms: number): Promise<void>;
  remove(): Promise<void>;
}

interface BullQueue {
  add(name: string, data: object, options: object): Promise<unknown>;
  getJob(id: string): Promise<BullJob | undefined>;
  on(event: "error", listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

interface BullWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  close(isForced?: boolean): Promise<void>;
}

export interface TaskQueueParts {
  readonly queues: SharedQueues;
  readonly logger: Pick<Logger, "warning">;
  readonly importBullmq: () => Promise<unknown>;
  /** Milliseconds without a renewal after which the tasks of a hub are rescued. @default 15,000 */
  readonly rescueMs?: number | undefined;
  /** Ends or releases the tasks of a hub that has ended. */
  readonly rescue: (hub: string) => Promise<void>;
}

const RESCUES = "tasks";
const RUNS = "schedules";
const RESCUE_MS = 15_000;
/**
 * Number of renewals of a hub's record in the time after which the hub counts as ended, so that two of them may fail.
 */
const RENEWALS = 3;
/** Seconds for which a scheduled run is remembered, so that a hub with a late clock does not start it again. */
const REMEMBERED_S = 2 * 3600;
const CONCURRENCY = 8;

/**
 * Queues of all hubs in BullMQ. The first queue has a delayed job for each hub with running tasks. The hub delays its
 * job again and again; after the end of the hub, another hub gets the job. The second queue has a job for each time of
 * each schedule.
 */
export class TaskQueue {
  readonly #parts: TaskQueueParts;
  readonly #queues = new Map<string, Promise<BullQueue>>();
  readonly #workers = new Map<string, Promise<BullWorker>>();
  #renewal: NodeJS.Timeout | undefined;
  readonly #connections: { disconnect(): void }[] = [];
  readonly #rescueMs: number;
  #isClosed = false;

  constructor(parts: TaskQueueParts) {
    this.#parts = parts;
    this.#rescueMs = parts.rescueMs ?? RESCUE_MS;
  }

  /** Rescues the tasks of other hubs from now on. */
  async serveRescues(): Promise<void> {
    await this.#serve(RESCUES, async ({ hub }) => {
      // The job of this hub became due, because the hub was blocked for too long. It still runs its tasks, so its job
      // is renewed.
      if (hub === this.#parts.queues.hub) await this.#renew();
      else if (hub !== undefined) await this.#rescue(hub);
    });
  }

  /** Starts scheduled runs from now on, with the function. */
  async serveRuns(startRun: (schedule: string) => Promise<void>): Promise<void> {
    await this.#serve(RUNS, async ({ schedule }) => {
      if (schedule !== undefined) await startRun(schedule);
    });
  }

  /** Starts no more runs. A run that is being started is finished. */
  async endRuns(): Promise<void> {
    const worker = this.#workers.get(RUNS);
    this.#workers.delete(RUNS);
    await (await worker)?.close();
  }

  /** Offers a run to all hubs. Each hub offers it, and a single hub starts it. */
  async offerRun(schedule: string, time: Date): Promise<void> {
    const jobId = `run-${Buffer.from(schedule).toString("base64url")}-${time.getTime()}`;
    const kept = { age: REMEMBERED_S };
    await (await this.#open(RUNS)).add("run", { schedule }, { jobId, removeOnComplete: kept, removeOnFail: kept });
  }

  /** Announces that this hub runs tasks, until `release`. Resolves when other hubs would notice its end. */
  async hold(): Promise<void> {
    if (this.#renewal || this.#isClosed) return;
    this.#renewal = setInterval(() => void this.#renew().catch(() => {}), this.#rescueMs / RENEWALS);
    this.#renewal.unref();
    try {
      await inTime(this.#renew());
    } catch (error) {
      // The next task tries again, so that no task runs that other hubs would not rescue.
      this.#endRenewal();
      throw error;
    }
  }

  /** Announces that this hub runs no task. */
  async release(): Promise<void> {
    if (!this.#renewal) return;
    this.#endRenewal();
    await inTime(this.#removeJob());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#renewal);
    // Forced, because the connections are disconnected below: a worker would otherwise wait for the next job.
    const closing = [
      ...Array.from(this.#workers.values(), async (worker) => (await worker).close(true)),
      ...Array.from(this.#queues.values(), async (queue) => (await queue).close()),
    ];
    await Promise.allSettled(closing);
    for (const connection of this.#connections) connection.disconnect();
  }

  #endRenewal(): void {
    clearInterval(this.#renewal);
    this.#renewal = undefined;
  }

  async #removeJob(): Promise<void> {
    const job = await (await this.#open(RESCUES)).getJob(rescueId(this.#parts.queues.hub));
    await job?.remove().catch(() => {});
  }

  /**
   * Rescues the tasks of a hub that has ended. The job of a hub that is alive is due if the store was lost, because no
   * hub could renew its job. It is tried again later, since that hub may end before it creates a new job.
   */
  async #rescue(hub: string): Promise<void> {
    if (!(await this.#parts.queues.isAlive(hub))) return this.#parts.rescue(hub);
    const options = { ...this.#rescueOptions, jobId: `${rescueId(hub)}-again` };
    await (await this.#open(RESCUES)).add("rescue", { hub }, options);
  }

  get #rescueOptions(): object {
    const backoff = { type: "fixed", delay: this.#rescueMs };
    return { delay: this.#rescueMs, removeOnComplete: true, removeOnFail: true, attempts: 5, backoff };
  }

  async #renew(): Promise<void> {
    const { hub } = this.#parts.queues;
    const queue = await this.#open(RESCUES);
    const job = await queue.getJob(rescueId(hub));
    if (job) {
      // Delaying the job fails if another hub is about to rescue the tasks of this hub.
      await job.changeDelay(this.#rescueMs).catch(() => {});
      return;
    }
    await queue.add("rescue", { hub }, { ...this.#rescueOptions, jobId: rescueId(hub) });
  }

  #open(name: string): Promise<BullQueue> {
    const opening = this.#queues.get(name) ?? this.#openQueue(name);
    this.#queues.set(name, opening);
    return opening;
  }

  async #openQueue(name: string): Promise<BullQueue> {
    const { Queue } = (await this.#parts.importBullmq()) as BullLibrary;
    const queue = new Queue(name, this.#options);
    // Errors are ignored, because the connection for commands reports a lost store.
    queue.on("error", () => {});
    return queue;
  }

  async #serve(name: string, work: (data: BullJob["data"]) => Promise<void>): Promise<void> {
    const opening = this.#workers.get(name) ?? this.#openWorker(name, work);
    this.#workers.set(name, opening);
    await opening;
  }

  async #openWorker(name: string, work: (data: BullJob["data"]) => Promise<void>): Promise<BullWorker> {
    const { Worker } = (await this.#parts.importBullmq()) as BullLibrary;
    const options = { ...this.#options, concurrency: CONCURRENCY, stalledInterval: RESCUE_MS, maxStalledCount: 5 };
    const worker = new Worker(name, (job) => this.#do(job, work), options);
    worker.on("error", () => {});
    return worker;
  }

  get #options(): object {
    const { queues } = this.#parts;
    const connection = queues.connect() as { disconnect(): void; on(event: "error", listener: () => void): unknown };
    connection.on("error", () => {});
    this.#connections.push(connection);
    // One hash tag, so that all keys of a queue are on one server of a cluster. The check of the version needs `INFO`,
    // which users with few rights must not call.
    return { connection, prefix: `${queues.prefix}{queue}`, skipVersionCheck: true };
  }

  async #do({ name, data }: BullJob, work: (data: BullJob["data"]) => Promise<void>): Promise<void> {
    try {
      await work(data);
    } catch (error) {
      this.#parts.logger.warning("A job of the shared queue failed.", { job: name, error: messageOf(error) });
      throw error;
    }
  }
}

function rescueId(hub: string): string {
  return `rescue-${hub.replaceAll(":", "-")}`;
}
