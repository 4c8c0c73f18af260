import { fail } from "../../../core/calls/outcome.ts";
import { FailError } from "../../../core/errors.ts";
import type { Emitter } from "../../../core/events.ts";
import { isFinal, type TaskChange, type TaskSnapshot } from "../../../core/ports/tasks.ts";
import type { LimitStore } from "../../../state/ports/limit-store.ts";
import { NO_ROOM } from "../task-table.ts";

export interface RunningTasksParts {
  readonly limits: LimitStore;
  readonly changed: Emitter<TaskChange>;
  /** Returns the maximum number of unfinished tasks of one owner on all hubs. */
  readonly maxRunning: () => number;
}

/** Counts the unfinished tasks of each owner on all hubs of a store. Those of a hub that was killed do not count. */
export class RunningTasks {
  readonly #parts: RunningTasksParts;
  /** Keys of the counted tasks of this hub, by id. */
  readonly #keys = new Map<string, string>();
  readonly #stop: () => void;

  constructor(parts: RunningTasksParts) {
    this.#parts = parts;
    this.#stop = parts.changed.on(({ task }) => {
      if (isFinal(task)) this.#end(task.id);
    });
  }

  /** Creates a task. Rejects with a `FailError` if its owner has too many unfinished tasks. */
  async create(owner: string, create: () => Promise<TaskSnapshot>): Promise<TaskSnapshot> {
    const key = keyOf(owner);
    if (!(await this.#admit(key))) throw new FailError(fail("limited", NO_ROOM));
    let task: TaskSnapshot;
    try {
      task = await create();
    } catch (error) {
      this.#parts.limits.leave(key);
      throw error;
    }
    this.#keys.set(task.id, key);
    if (isFinal(task)) this.#end(task.id);
    return task;
  }

  /** Counts a task that this hub continues. It continues in any case. */
  async adopt(id: string, owner: string): Promise<void> {
    const key = keyOf(owner);
    if (await this.#admit(key)) this.#keys.set(id, key);
  }

  close(): void {
    this.#stop();
    for (const id of Array.from(this.#keys.keys())) this.#end(id);
  }

  async #admit(key: string): Promise<boolean> {
    const { limits, maxRunning } = this.#parts;
    return (await limits.admit(key, { perMinute: 0, inFlight: maxRunning() })).admitted;
  }

  #end(id: string): void {
    const key = this.#keys.get(id);
    if (key === undefined) return;
    this.#keys.delete(id);
    this.#parts.limits.leave(key);
  }
}

/** Returns a key that no limit of calls has. */
function keyOf(owner: string): string {
  return `tasks\n${owner}`;
}
