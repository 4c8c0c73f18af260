import type { StoredTask } from "../stored-task.ts";

/** Task of another hub. */
export interface RemoteTask {
  readonly task: StoredTask;
  readonly hub: string;
  /** False if the result of the task was not read from the store. */
  readonly isWhole: boolean;
}

interface KeptTask {
  readonly remote: RemoteTask;
  /** Size of the task's arguments or result, in characters. */
  readonly size: number;
}

/** Maximum number of tasks. */
const MAX_TASKS = 5000;
/** Maximum size of all results in characters. */
const MAX_SIZE = 64 * 1024 * 1024;

/** Tasks of other hubs that this hub has read. If there are too many, those read first are removed. */
export class RemoteTasks {
  readonly #byId = new Map<string, KeptTask>();
  readonly #maxSize: number;
  #size = 0;

  /** `maxSize`: characters of all results. */
  constructor(maxSize = MAX_SIZE) {
    this.#maxSize = maxSize;
  }

  get(id: string): RemoteTask | undefined {
    return this.#byId.get(id)?.remote;
  }

  all(): readonly RemoteTask[] {
    return Array.from(this.#byId.values(), ({ remote }) => remote);
  }

  /** Adds or replaces a task. A known result is not replaced by a state without the result. */
  set(remote: RemoteTask): void {
    const { task, isWhole } = remote;
    const { id } = task.facts;
    const known = this.get(id);
    if (!isWhole && known?.isWhole === true && known.task.isFinal) return;
    this.delete(id);
    this.#makeRoom(task.size);
    this.#byId.set(id, { remote, size: task.size });
    this.#size += task.size;
  }

  delete(id: string): void {
    this.#size -= this.#byId.get(id)?.size ?? 0;
    this.#byId.delete(id);
  }

  #makeRoom(size: number): void {
    for (const [id, { remote }] of this.#byId) {
      if (this.#byId.size >= MAX_TASKS) this.delete(id);
      else if (this.#size + size <= this.#maxSize) return;
      // An unfinished task has no result, and a caller may wait for its end.
      else if (remote.task.isFinal) this.delete(id);
    }
  }
}
