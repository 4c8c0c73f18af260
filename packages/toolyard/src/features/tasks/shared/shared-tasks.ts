import type { Principal } from "../../../core/calls/call.ts";
import { fail } from "../../../core/calls/outcome.ts";
import { FailError, messageOf } from "../../../core/errors.ts";
import type { Emitter } from "../../../core/events.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import type {
  RefusedInput,
  SharedRuns,
  StartedCall,
  TaskCall,
  TaskChange,
  TaskRun,
  TaskSnapshot,
  WantedTasks,
} from "../../../core/ports/tasks.ts";
import type { LimitStore } from "../../../state/ports/limit-store.ts";
import type { SharedQueues } from "../../../state/ports/shared-queues.ts";
import type { LoadedTasks } from "../late-tasks.ts";
import { StoredTask } from "../stored-task.ts";
import { INTERRUPTED, TaskTable, type TaskAction, type TaskTableDeps } from "../task-table.ts";
import { RemoteTasks, type RemoteTask } from "./remote-tasks.ts";
import { RunningTasks } from "./running-tasks.ts";
import { SharedJournal } from "./shared-journal.ts";
import { SharedTaskChannel, type TaskMessage } from "./task-channel.ts";
import { TaskQueue } from "./task-queue.ts";
import { ENDED, NO_HUB, TaskRecords, type SharedRecord } from "./task-records.ts";

export interface SharedTasksDeps extends Omit<TaskTableDeps, "openJournal"> {
  readonly queues: SharedQueues;
  readonly limits: LimitStore;
  readonly importBullmq: () => Promise<unknown>;
  /** Milliseconds without a renewal after which the tasks of a hub are rescued. @default 15,000 */
  readonly rescueMs?: number;
}

/** Milliseconds between two reads of a task of another hub while a caller waits for its end. Messages may be lost. */
const READ_MS = 2000;
/** Milliseconds between two renewals of the unfinished tasks in the store. */
const KEEP_MS = 3_600_000;

/** Tasks in a store that several hubs use. Actions on tasks of other hubs are passed to the hubs that run them. */
export class SharedTasks implements LoadedTasks {
  readonly changed: Emitter<TaskChange>;
  readonly runs: SharedRuns;
  readonly #queues: SharedQueues;
  readonly #logger: Pick<Logger, "warning">;
  readonly #local: TaskTable;
  readonly #journal: SharedJournal;
  readonly #records: TaskRecords;
  readonly #channel: SharedTaskChannel;
  readonly #queue: TaskQueue;
  readonly #remote = new RemoteTasks();
  readonly #running: RunningTasks;
  readonly #keeping: NodeJS.Timeout;
  #opening: Promise<void> | undefined;
  #stops: (() => void)[] = [];

  constructor({ queues, limits, importBullmq, rescueMs, ...deps }: SharedTasksDeps) {
    const { logger } = deps;
    const { hub } = queues;
    this.changed = deps.changed;
    this.#queues = queues;
    this.#logger = logger;
    this.#records = new TaskRecords(queues);
    this.#channel = new SharedTaskChannel(queues);
    this.#queue = new TaskQueue({ queues, logger, importBullmq, rescueMs, rescue: (ended) => this.#rescue(ended) });
    const maxRunning = (): number => deps.options().maxRunning;
    this.#running = new RunningTasks({ limits, changed: deps.changed, maxRunning });
    this.#journal = new SharedJournal({
      hub,
      records: this.#records,
      channel: this.#channel,
      queue: this.#queue,
      logger,
    });
    this.#local = new TaskTable({
      ...deps,
      openJournal: () => Promise.resolve({ journal: this.#journal, records: [] }),
    });
    this.runs = {
      offer: (schedule, time) => this.#queue.offerRun(schedule, time),
      serve: async (start) => {
        await this.#queue.serveRuns(start);
        return () => this.#queue.endRuns();
      },
    };
    this.#keeping = setInterval(() => void this.#storeAll(), KEEP_MS);
    this.#keeping.unref();
  }

  async ready(wanted?: WantedTasks): Promise<void> {
    await this.#local.ready();
    if (wanted?.id !== undefined && this.#local.has(wanted.id)) return await this.#journal.shown(wanted.id);
    if (this.#queues.isLost) {
      if (wanted?.id === undefined) return;
      throw new FailError(fail("unavailable", LOST));
    }
    try {
      await (this.#opening ??= this.#open());
      if (wanted) await this.#read(wanted);
    } catch (error) {
      if (this.#queues.isLost) throw new FailError(fail("unavailable", LOST, { cause: error }));
      throw error;
    }
  }

  hasRoomFor(principal: Principal): boolean {
    // Without the store a call cannot become a task that survives this hub, so it waits for its result.
    return !this.#queues.isLost && this.#local.hasRoomFor(principal);
  }

  async admit(principal: Principal): Promise<void> {
    if (this.#queues.isLost) throw new FailError(fail("unavailable", NOT_STARTED));
    await this.ready();
    await this.#local.admit(principal);
  }

  async start(call: StartedCall): Promise<TaskSnapshot> {
    if (this.#queues.isLost) throw new FailError(fail("unavailable", NOT_STARTED));
    await this.ready();
    return await this.#running.create(callerKey(call.principal), () => this.#local.start(call));
  }

  async create(call: TaskCall, run: TaskRun): Promise<TaskSnapshot> {
    await this.ready();
    return await this.#running.create(callerKey(call.principal), () => this.#local.create(call, run));
  }

  get(id: string, principal: Principal): TaskSnapshot | undefined {
    return this.#local.get(id, principal) ?? this.#find(id, principal)?.task.snapshot();
  }

  list(principal: Principal): readonly TaskSnapshot[] {
    const owner = callerKey(principal);
    const others = this.#remote.all().filter(({ task }) => task.facts.owner === owner && this.#isListed(task));
    const all = [...this.#local.list(principal), ...others.map(({ task }) => task.snapshot())];
    return all.toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
  }

  respond(id: string, principal: Principal, responses: JsonObject): boolean {
    return (
      this.#local.respond(id, principal, responses) ||
      this.#pass(id, principal, { type: "respond", responses }) !== undefined
    );
  }

  refuse(id: string, principal: Principal, refused: RefusedInput): boolean {
    const { key, error } = refused;
    const action = { type: "refuse", key, message: error.message };
    return this.#local.refuse(id, principal, refused) || this.#pass(id, principal, action) !== undefined;
  }

  cancel(id: string, principal: Principal): boolean {
    if (this.#local.cancel(id, principal)) return true;
    const remote = this.#find(id, principal);
    if (remote && !remote.task.isFinal) void this.#cancel(remote);
    return remote !== undefined;
  }

  async ended(id: string, principal: Principal, signal: AbortSignal): Promise<TaskSnapshot | undefined> {
    if (this.#local.has(id)) return await this.#local.ended(id, principal, signal);
    if (!this.#find(id, principal)) return undefined;
    await this.#untilFinal(id, principal, signal);
    const end = this.#find(id, principal);
    return end && hasEnd(end) ? end.task.snapshot() : undefined;
  }

  /** Ends the tasks of this hub as after a crash: other hubs continue those that may be continued. */
  async close(): Promise<void> {
    clearInterval(this.#keeping);
    for (const stop of this.#stops) stop();
    await this.#local.close();
    this.#running.close();
    if (this.#opening && !this.#queues.isLost) {
      await this.#rescue(this.#queues.hub).catch(() => {});
      await this.#queue.release().catch(() => {});
    }
    await this.#queue.close();
    this.#channel.close();
  }

  async #open(): Promise<void> {
    try {
      await this.#channel.open();
      await this.#queue.serveRescues();
      this.#stops = [
        this.#channel.received.on((message) => void this.#receive(message)),
        this.#queues.onRestored(() => void this.#storeAll()),
      ];
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #read({ id, principal }: WantedTasks): Promise<void> {
    if (id !== undefined) return await this.#load(id, principal);
    const found = await this.#records.loadOf(callerKey(principal));
    for (const one of found) {
      const known = this.#remote.get(one.record.id);
      // A caller may wait for the end of this task, and then needs its whole result.
      if (!one.isWhole && known && !known.task.isFinal) await this.#load(one.record.id);
      else this.#remember(one);
    }
  }

  /**
   * Reads a task of another hub. If the task was interrupted and `principal` is its owner, this hub claims it, and the
   * owner then continues it here.
   */
  async #load(id: string, principal?: Principal): Promise<void> {
    const found = await this.#records.load(id);
    if (!found) return void this.#remote.delete(id);
    const task = this.#remember(found);
    const isOwner = task && principal && task.facts.owner === callerKey(principal);
    if (isOwner && found.hub === NO_HUB && (await this.#records.claim(id))) {
      this.#remote.delete(id);
      this.#local.adopt(found.record);
      await this.#running.adopt(id, task.facts.owner);
      await this.#queue.hold();
    }
  }

  #remember({ record, hub, isWhole }: SharedRecord): StoredTask | undefined {
    const task = StoredTask.from(record);
    if (!task || this.#local.has(task.facts.id)) return undefined;
    this.#remote.set({ task, hub, isWhole });
    return task;
  }

  /** Returns true for a task that only another hub has, and that has not expired. */
  #isListed(task: StoredTask): boolean {
    return !this.#local.has(task.facts.id) && !(task.isFinal && Date.now() >= task.expiresAt);
  }

  #find(id: string, principal: Principal): RemoteTask | undefined {
    const remote = this.#remote.get(id);
    return remote?.task.facts.owner === callerKey(principal) ? remote : undefined;
  }

  /** Passes an action to the hub that runs the task. */
  #pass(id: string, principal: Principal, action: JsonObject): RemoteTask | undefined {
    const remote = this.#find(id, principal);
    if (remote && !remote.task.isFinal)
      void this.#channel.send(id, { to: remote.hub, action }).catch((error: unknown) => this.#note(id, error));
    return remote;
  }

  /** Ends a task of another hub. Its end is stored before the other hub cancels the call. */
  async #cancel({ task, hub }: RemoteTask): Promise<void> {
    const { id } = task.facts;
    task.finish({ type: "cancelled" });
    try {
      if (await this.#records.store(task, hub, ENDED)) {
        await this.#channel.send(id, { to: hub, action: { type: "cancel" } });
        await this.#channel.send(id);
      }
    } catch (error) {
      this.#note(id, error);
    }
  }

  async #receive({ id, to, action }: TaskMessage): Promise<void> {
    if (action) {
      const parsed = to === this.#queues.hub ? readAction(action) : undefined;
      if (parsed) this.#local.act(id, parsed);
      return;
    }
    if (!this.#remote.get(id)) return;
    await this.#load(id).catch((error: unknown) => this.#note(id, error));
    const task = this.#remote.get(id)?.task;
    if (task && this.changed.size > 0) this.changed.emit({ owner: task.facts.owner, task: task.snapshot() });
  }

  /** Resolves when a task of another hub has ended or does not exist any more, or when the signal aborts. */
  async #untilFinal(id: string, principal: Principal, signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => {
      const remote = this.#find(id, principal);
      return signal.aborted || !remote || hasEnd(remote);
    };
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (!isOver()) return;
        stop();
        clearInterval(timer);
        signal.removeEventListener("abort", check);
        resolve();
      };
      const read = async (): Promise<void> => {
        await this.#load(id).catch(() => {});
        check();
      };
      const stop = this.changed.on(({ task }) => {
        if (task.id === id) check();
      });
      const timer = setInterval(() => void read(), READ_MS);
      signal.addEventListener("abort", check);
      check();
    });
  }

  /** Ends the tasks of a hub that has ended. Those that may be continued get no hub, until their owner reads them. */
  async #rescue(hub: string): Promise<void> {
    for (const id of await this.#records.idsAt(hub)) {
      const found = await this.#records.load(id);
      const task = found?.hub === hub ? StoredTask.from(found.record) : undefined;
      if (!task || task.isFinal) continue;
      if (!task.isResumable) task.finish(INTERRUPTED);
      if (await this.#records.store(task, hub, task.isFinal ? ENDED : NO_HUB)) await this.#channel.send(id);
    }
  }

  /** Stores the tasks of this hub again: the store may have lost them, and unfinished ones must not expire. */
  async #storeAll(): Promise<void> {
    const { hub } = this.#queues;
    for (const task of this.#local.all()) {
      const { id } = task.facts;
      await this.#records.store(task, hub, task.isFinal ? ENDED : hub).catch((error: unknown) => this.#note(id, error));
    }
  }

  #note(task: string, error: unknown): void {
    this.#logger.warning("A task of the shared store could not be read or changed.", { task, error: messageOf(error) });
  }
}

const LOST = "The shared store cannot be reached, so this task cannot be read or stored now. Try again later.";
const NOT_STARTED =
  "The shared store cannot be reached, so no task can be started now, and the tool was not called. Try again later, " +
  "or call the tool without a task.";

/** Returns true if the task has ended and its result was read. */
function hasEnd({ task, isWhole }: RemoteTask): boolean {
  return task.isFinal && isWhole;
}

/** Returns the action of a message, or `undefined` if a newer hub sent another one. */
function readAction(action: JsonObject): TaskAction | undefined {
  const { type, responses } = action;
  const key = stringMember(action, "key");
  if (type === "respond" && isJsonObject(responses)) return { type, responses };
  if (type === "refuse" && key !== undefined) {
    const message = stringMember(action, "message") ?? "The caller declined.";
    return { type, key, error: new FailError(fail("denied", message, { details: { ask: "declined" } })) };
  }
  return type === "cancel" ? { type } : undefined;
}
