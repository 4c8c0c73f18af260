import type { Logger } from "../../../core/ports/ports.ts";
import { messageOf } from "../../../core/errors.ts";
import { within } from "../../../core/timing/wait.ts";
import { StoredTask } from "../stored-task.ts";
import type { TaskRecord } from "../task-journal.ts";
import type { TaskStorage } from "../task-table.ts";
import type { SharedTaskChannel } from "./task-channel.ts";
import type { TaskQueue } from "./task-queue.ts";
import { ENDED, type TaskRecords } from "./task-records.ts";

export interface SharedJournalParts {
  readonly hub: string;
  readonly records: TaskRecords;
  readonly channel: SharedTaskChannel;
  readonly queue: TaskQueue;
  readonly logger: Pick<Logger, "warning">;
}

/** Minimum milliseconds between two messages of progress of a task that other hubs see. */
const SHOW_MS = 500;
/** Maximum milliseconds for which a reader waits until other hubs see the state of a task. */
const SHOWN_MS = 2000;

/** Storage of this hub's tasks in the shared store. */
export class SharedJournal implements TaskStorage {
  /** Always 0, because nothing is appended: each task has one record. */
  readonly bytes = 0;
  readonly #parts: SharedJournalParts;
  /** Ids of the unfinished tasks of this hub. */
  readonly #unfinished = new Set<string>();
  readonly #shown = new Map<string, NodeJS.Timeout>();
  /** Changes that are being written, by task. */
  readonly #showing = new Map<string, Promise<void>>();

  constructor(parts: SharedJournalParts) {
    this.#parts = parts;
  }

  async append(record: TaskRecord): Promise<void> {
    const { records, channel, queue, hub } = this.#parts;
    this.#forgetShow(record.id);
    if (record.removed) return await records.remove(record.id);
    const task = StoredTask.from(record);
    if (!task) return;
    // Other hubs must be able to notice the end of this hub before the task exists, so that they can rescue it.
    if (!task.isFinal) {
      this.#unfinished.add(record.id);
      await queue.hold();
    }
    // If the task belongs to another hub, that hub has ended it: its owner cancelled it there, or this hub was blocked
    // too long.
    const isStored = await records.store(task, hub, task.isFinal ? ENDED : hub);
    if (isStored) await channel.send(record.id);
    if (task.isFinal) await this.#ended(record.id);
  }

  async compact(): Promise<void> {}

  show(task: StoredTask, change: "progress" | "input"): void {
    const { id } = task.facts;
    if (change === "input") return this.#showNow(task);
    if (this.#shown.has(id)) return;
    const timer = setTimeout(() => {
      this.#shown.delete(id);
      if (!task.isFinal) void this.#show(task);
    }, SHOW_MS);
    timer.unref();
    this.#shown.set(id, timer);
  }

  /**
   * Resolves when other hubs see the input for which a task waits. Otherwise a caller could read at this hub that input
   * is required, and at the next hub that it is not.
   */
  async shown(id: string): Promise<void> {
    const showing = this.#showing.get(id);
    if (showing) await within(showing, SHOWN_MS);
  }

  #showNow(task: StoredTask): void {
    const { id } = task.facts;
    this.#forgetShow(id);
    const showing = this.#show(task).finally(() => {
      if (this.#showing.get(id) === showing) this.#showing.delete(id);
    });
    this.#showing.set(id, showing);
  }

  async close(): Promise<void> {
    for (const timer of this.#shown.values()) clearTimeout(timer);
    this.#shown.clear();
  }

  async #show(task: StoredTask): Promise<void> {
    const { records, channel, hub, logger } = this.#parts;
    try {
      if (await records.store(task, hub, hub)) await channel.send(task.facts.id);
    } catch (error) {
      logger.warning("Other hubs cannot see the state of a task.", { task: task.facts.id, error: messageOf(error) });
    }
  }

  async #ended(id: string): Promise<void> {
    if (this.#unfinished.delete(id) && this.#unfinished.size === 0) await this.#parts.queue.release();
  }

  #forgetShow(id: string): void {
    clearTimeout(this.#shown.get(id));
    this.#shown.delete(id);
  }
}
