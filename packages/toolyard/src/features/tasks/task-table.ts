import type { Principal } from "../../core/calls/call.ts";
import { fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import type { Emitter } from "../../core/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { startWithin, type Span, type Tracing } from "../../core/ports/tracing.ts";
import { callerKey } from "../../core/ports/profiles.ts";
import type {
  RefusedInput,
  StartedCall,
  TaskCall,
  TaskChange,
  TaskEnd,
  TaskObserver,
  TaskRun,
  TaskSnapshot,
} from "../../core/ports/tasks.ts";
import { isoNow } from "../../core/text/iso-now.ts";
import { RPC } from "../../wire/messages.ts";
import type { LoadedTasks } from "./late-tasks.ts";
import type { TaskOptions } from "./options.ts";
import { newTaskId, StoredTask } from "./stored-task.ts";
import type { TaskRecord } from "./task-journal.ts";

export interface TaskTableDeps {
  readonly options: () => TaskOptions;
  readonly logger: Pick<Logger, "warning">;
  /** Event of every change of a task. */
  readonly changed: Emitter<TaskChange>;
  /**
   * Opens the journal: for the first task, or at the start if stored tasks exist. Returns `undefined` if tasks are kept
   * in memory.
   */
  readonly openJournal: () => Promise<OpenedJournal> | undefined;
  /** Calls a tool. `isIdempotent` resolves when the call is admitted, and rejects if it is refused. */
  readonly run: (call: StartedCall) => TaskRun & { readonly isIdempotent: Promise<boolean> };
  /** @default tasks are not recorded */
  readonly tracing?: Tracing | undefined;
}

/** Storage of the tasks of one hub. */
export interface TaskStorage {
  /** Size in bytes, which decides when `compact` is called. */
  readonly bytes: number;
  /** Stores a record. Resolves when a crash cannot lose it. */
  append(record: TaskRecord): Promise<void>;
  /** Replaces the content by these records. */
  compact(records: () => readonly TaskRecord[]): Promise<void>;
  /** Shows the state of a task to other hubs: its progress soon, and an `input` that it waits for immediately. */
  show?(task: StoredTask, change: "progress" | "input"): void;
  close(): Promise<void>;
}

export interface OpenedJournal {
  readonly journal: TaskStorage;
  /** Last record of each task. */
  readonly records: readonly TaskRecord[];
}

/** Action on a task that another hub received. */
export type TaskAction =
  | { readonly type: "respond"; readonly responses: JsonObject }
  | { readonly type: "refuse"; readonly key: string; readonly error: FailError }
  | { readonly type: "cancel" };

/** Tasks of one hub, in memory and in a journal. */
export class TaskTable implements LoadedTasks {
  readonly changed: Emitter<TaskChange>;
  readonly #deps: TaskTableDeps;
  readonly #byId = new Map<string, StoredTask>();
  /** Ids of tasks with a hub that ended during the call. The call may be repeated. */
  readonly #interrupted = new Set<string>();
  /** Number of tasks that are being created, by owner. */
  readonly #reserved = new Map<string, number>();
  #isCompacting = false;
  #journal: TaskStorage | undefined;
  #opening: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: TaskTableDeps) {
    this.#deps = deps;
    this.changed = deps.changed;
  }

  /** Reads the tasks of earlier hubs. A failure is logged. */
  ready(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  hasRoomFor(principal: Principal): boolean {
    this.#expire();
    const owner = callerKey(principal);
    const { maxRunning, maxTasks } = this.#deps.options();
    let running = this.#reserved.get(owner) ?? 0;
    let unfinished = 0;
    for (const count of this.#reserved.values()) unfinished += count;
    for (const task of this.#byId.values()) {
      // An interrupted task is not running, and its owner may never read it, so it does not count.
      if (task.isFinal || this.#interrupted.has(task.facts.id)) continue;
      unfinished += 1;
      if (task.facts.owner === owner) running += 1;
    }
    return running < maxRunning && unfinished < maxTasks;
  }

  async admit(principal: Principal): Promise<void> {
    this.#assertRoomFor(principal);
  }

  async start(call: StartedCall): Promise<TaskSnapshot> {
    this.#assertRoomFor(call.principal);
    return await this.#reserving(call.principal, async () => {
      const run = this.#deps.run(call);
      // `meta` is omitted, because the run starts its own span.
      return await this.#create({ ...call, meta: undefined, isIdempotent: await run.isIdempotent }, run);
    });
  }

  create(call: TaskCall, run: TaskRun): Promise<TaskSnapshot> {
    return this.#reserving(call.principal, () => this.#create(call, run));
  }

  /** Counts a task of the principal while it is being created, so that concurrent calls cannot exceed the limits. */
  async #reserving<T>(principal: Principal, work: () => Promise<T>): Promise<T> {
    const owner = callerKey(principal);
    this.#reserved.set(owner, (this.#reserved.get(owner) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#reserved.get(owner) ?? 1) - 1;
      if (left > 0) this.#reserved.set(owner, left);
      else this.#reserved.delete(owner);
    }
  }

  async #create({ principal, ...call }: TaskCall, run: TaskRun): Promise<TaskSnapshot> {
    await this.ready();
    const task = new StoredTask({
      id: newTaskId(),
      owner: callerKey(principal),
      tool: call.tool,
      endpoint: call.endpoint,
      createdAt: isoNow(),
      ttlMs: Math.min(call.ttlMs ?? Infinity, this.#deps.options().ttlMs),
      arguments: call.arguments,
      isIdempotent: call.isIdempotent,
      ...(call.upstream && { upstream: call.upstream }),
    });
    try {
      await this.#journal?.append(task.record());
    } catch (error) {
      this.#deps.logger.warning("A task could not be stored, so its call was cancelled.", { error: messageOf(error) });
      const failure = fail("internal", `The task could not be stored: ${messageOf(error)}. The call was cancelled.`);
      run.cancel(new FailError(failure));
      throw new FailError(failure);
    }
    this.#byId.set(task.facts.id, task);
    this.#run(task, run, startWithin(this.#deps.tracing, { name: "task", kind: "internal" }, call.meta));
    this.#makeRoom();
    return task.snapshot();
  }

  get(id: string, principal: Principal): TaskSnapshot | undefined {
    const task = this.#find(id, principal);
    if (task && this.#interrupted.delete(id)) this.#repeat(task, principal);
    return task?.snapshot();
  }

  list(principal: Principal): readonly TaskSnapshot[] {
    this.#expire();
    const owner = callerKey(principal);
    return Array.from(this.#byId.values())
      .filter((task) => task.facts.owner === owner)
      .map((task) => task.snapshot())
      .toReversed();
  }

  respond(id: string, principal: Principal, responses: JsonObject): boolean {
    const task = this.#find(id, principal);
    task?.run?.respond(responses);
    return task !== undefined;
  }

  refuse(id: string, principal: Principal, { key, error }: RefusedInput): boolean {
    const task = this.#find(id, principal);
    task?.run?.refuse(key, error);
    return task !== undefined;
  }

  cancel(id: string, principal: Principal): boolean {
    const task = this.#find(id, principal);
    if (task && !task.isFinal) this.#cancel(task);
    return task !== undefined;
  }

  #cancel(task: StoredTask): void {
    const { run } = task;
    this.#interrupted.delete(task.facts.id);
    this.#settle(task, { type: "cancelled" });
    run?.cancel(new FailError(fail("cancelled", "The task was cancelled.")));
  }

  /** Returns true if the table has the task, for any owner. */
  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Returns the tasks of all owners. */
  all(): readonly StoredTask[] {
    return Array.from(this.#byId.values());
  }

  /** Adds an unfinished task of a hub that has ended. Its call is continued when its owner reads it. */
  adopt(record: TaskRecord): void {
    this.#restore(record);
  }

  /** Applies an action that another hub received from the owner of the task. */
  act(id: string, action: TaskAction): void {
    const task = this.#byId.get(id);
    if (!task?.run) return;
    if (action.type === "respond") return task.run.respond(action.responses);
    if (action.type === "refuse") return task.run.refuse(action.key, action.error);
    this.#cancel(task);
  }

  async ended(id: string, principal: Principal, signal: AbortSignal): Promise<TaskSnapshot | undefined> {
    this.get(id, principal);
    const task = this.#find(id, principal);
    if (!task || task.isFinal) return task?.snapshot();
    return await new Promise((resolve) => {
      const finish = (): void => {
        stop();
        signal.removeEventListener("abort", finish);
        resolve(task.isFinal ? task.snapshot() : undefined);
      };
      const stop = this.changed.on(({ task: { id: changed } }) => {
        if (changed === id && task.isFinal) finish();
      });
      signal.addEventListener("abort", finish);
      if (signal.aborted) finish();
    });
  }

  /** Closes the journal. Running calls end with the hub, and their tasks are interrupted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening;
    await this.#journal?.close();
  }

  async #open(): Promise<void> {
    try {
      const opened = await this.#deps.openJournal();
      if (!opened) return;
      this.#journal = opened.journal;
      for (const record of opened.records) this.#restore(record);
      this.#expire();
    } catch (error) {
      this.#deps.logger.warning("The journal of tasks cannot be used: tasks end with this hub.", {
        error: messageOf(error),
      });
    }
  }

  #restore(record: TaskRecord): void {
    const task = StoredTask.from(record);
    if (!task) return;
    this.#byId.set(task.facts.id, task);
    if (task.isFinal) return;
    // The owner's rights are not stored, so the call is not continued now. It is continued when the owner reads the
    // task, with the rights that the owner then has.
    if (task.isResumable) this.#interrupted.add(task.facts.id);
    else this.#settle(task, INTERRUPTED);
  }

  #repeat(task: StoredTask, principal: Principal): void {
    const { endpoint, tool, arguments: args, upstream: follows } = task.facts;
    this.#run(task, this.#deps.run({ principal, endpoint, tool, arguments: args, follows }));
  }

  /** Connects a run to its task. `span` records the time from now to the end of the task. */
  #run(task: StoredTask, run: TaskRun, span?: Span): void {
    task.run = run;
    const observer: TaskObserver = {
      progressed: (message) => {
        if (task.isFinal) return;
        task.progressed(message);
        this.#journal?.show?.(task, "progress");
        this.#report(task);
      },
      inputChanged: () => {
        task.inputChanged();
        this.#journal?.show?.(task, "input");
        this.#report(task);
      },
      delegated: (upstream) => {
        const isKnown = task.facts.upstream?.taskId === upstream.taskId;
        task.facts = { ...task.facts, upstream };
        if (!isKnown && !task.isFinal) this.#write(task.record());
      },
      settled: (end) => {
        span?.end(end.type === "result" ? undefined : end.type);
        if (!task.isFinal && !this.#isClosed) this.#settle(task, end);
      },
    };
    run.observe(observer);
  }

  #settle(task: StoredTask, end: TaskEnd): void {
    task.finish(end);
    this.#write(task.record());
    this.#report(task);
    this.#makeRoom();
  }

  #write(record: TaskRecord): void {
    this.#journal?.append(record).catch((error: unknown) => {
      this.#deps.logger.warning("The end of a task could not be stored: after a restart of the hub it is lost.", {
        task: record.id,
        error: messageOf(error),
      });
    });
    this.#compact();
  }

  /** Rewrites the journal if it is much larger than the tasks in it. */
  #compact(): void {
    const limit = COMPACT_FACTOR * this.#deps.options().maxStoredBytes + COMPACT_FREE_BYTES;
    if (!this.#journal || this.#isCompacting || this.#journal.bytes < limit) return;
    this.#isCompacting = true;
    const records = (): TaskRecord[] => Array.from(this.#byId.values(), (task) => task.record());
    this.#journal
      .compact(records)
      .catch((error: unknown) => {
        this.#deps.logger.warning("The journal of tasks could not be rewritten.", { error: messageOf(error) });
      })
      .finally(() => (this.#isCompacting = false));
  }

  #report(task: StoredTask): void {
    if (this.changed.size > 0) this.changed.emit({ owner: task.facts.owner, task: task.snapshot() });
  }

  #find(id: string, principal: Principal): StoredTask | undefined {
    const task = this.#byId.get(id);
    if (!task || task.facts.owner !== callerKey(principal)) return undefined;
    if (!this.#isOver(task) || Date.now() < task.expiresAt) return task;
    this.#remove(task);
    return undefined;
  }

  /** Removes finished tasks when their time is over. A running task is kept until it ends. */
  #expire(): void {
    const now = Date.now();
    for (const task of this.#byId.values()) if (this.#isOver(task) && now >= task.expiresAt) this.#remove(task);
  }

  /** Removes the oldest finished tasks until the rest is within the limits. */
  #makeRoom(): void {
    const { maxTasks, maxStoredBytes } = this.#deps.options();
    let stored = 0;
    for (const { size } of this.#byId.values()) stored += size;
    for (const task of this.#byId.values()) {
      if (this.#byId.size <= maxTasks && stored <= maxStoredBytes) return;
      if (!this.#isOver(task)) continue;
      stored -= task.size;
      this.#remove(task);
    }
  }

  /** Returns true for a task without a running call: a finished or an interrupted one. */
  #isOver(task: StoredTask): boolean {
    return task.isFinal || this.#interrupted.has(task.facts.id);
  }

  #assertRoomFor(principal: Principal): void {
    if (!this.hasRoomFor(principal)) throw new FailError(fail("limited", NO_ROOM));
  }

  #remove({ facts: { id } }: StoredTask): void {
    this.#byId.delete(id);
    this.#interrupted.delete(id);
    this.#write({ id, removed: true });
  }
}

/** The journal is rewritten when it is larger than this multiple of the stored results, plus some bytes. */
const COMPACT_FACTOR = 2;
const COMPACT_FREE_BYTES = 16 * 1024 * 1024;
export const NO_ROOM = "You have too many unfinished tasks. Wait until one ends, or cancel one.";

export const INTERRUPTED: TaskEnd = {
  type: "error",
  error: {
    code: RPC.internal,
    message:
      "The hub ended while the tool ran, and the tool is not idempotent, so it was not called again. " +
      "Check what it did, and call it again if needed.",
  },
};
