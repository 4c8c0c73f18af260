import type { Principal } from "../../core/calls/call.ts";
import { Emitter } from "../../core/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { Late } from "../../core/late.ts";
import type { Subject } from "../../core/ports/permission.ts";
import type {
  RefusedInput,
  SharedRuns,
  StartedCall,
  TaskCall,
  TaskChange,
  TaskRun,
  Tasks,
  TaskSnapshot,
  TaskSupportRules,
  WantedTasks,
} from "../../core/ports/tasks.ts";
import type { TaskOptions } from "./options.ts";

/** Tasks of one hub, or of several hubs with a shared store. */
export type LoadedTasks = Omit<Tasks, "supportRules" | "isOffered" | "sharedRuns"> & {
  /** Present if several hubs share a store. */
  readonly runs?: SharedRuns;
  close(): Promise<void>;
};

export interface LateTasksParts {
  /** True if several hubs share a store. */
  readonly isShared: boolean;
  readonly options: () => TaskOptions;
  /**
   * Returns the subject with which patterns of the configuration are compared, by the name of a tool as callers see it.
   */
  readonly findSubject: (tool: string) => Subject | undefined;
  /** Loads the table, which reports changes of its tasks to `changed`. */
  readonly load: (changed: Emitter<TaskChange>) => Promise<LoadedTasks>;
}

/** Tasks that load their code with the first task. Before `ready` there are none. */
export class LateTasks implements Tasks {
  readonly changed = new Emitter<TaskChange>();
  readonly #options: LateTasksParts["options"];
  readonly #findSubject: LateTasksParts["findSubject"];
  readonly #table: Late<LoadedTasks>;
  readonly sharedRuns?: SharedRuns;
  #support: { readonly options: TaskOptions; readonly rules: TaskSupportRules | undefined } | undefined;

  constructor({ options, findSubject, isShared, load }: LateTasksParts) {
    this.#options = options;
    this.#findSubject = findSubject;
    this.#table = new Late(() => load(this.changed));
    if (!isShared) return;
    const runs = async (): Promise<SharedRuns> => (await this.#table.get()).runs!;
    this.sharedRuns = {
      offer: async (schedule, time) => (await runs()).offer(schedule, time),
      serve: async (start) => (await runs()).serve(start),
    };
  }

  get isOffered(): boolean {
    return this.#options().isOffered;
  }

  get supportRules(): TaskSupportRules | undefined {
    const options = this.#options();
    if (this.#support?.options !== options) this.#support = { options, rules: this.#createRules(options) };
    return this.#support.rules;
  }

  async ready(wanted?: WantedTasks): Promise<void> {
    await (await this.#table.get()).ready(wanted);
  }

  hasRoomFor(principal: Principal): boolean {
    return this.#table.made?.hasRoomFor(principal) ?? true;
  }

  async admit(principal: Principal): Promise<void> {
    await (await this.#table.get()).admit(principal);
  }

  async start(call: StartedCall): Promise<TaskSnapshot> {
    return (await this.#table.get()).start(call);
  }

  async create(call: TaskCall, run: TaskRun): Promise<TaskSnapshot> {
    return (this.#table.made ?? (await this.#table.get())).create(call, run);
  }

  get(id: string, principal: Principal): TaskSnapshot | undefined {
    return this.#table.made?.get(id, principal);
  }

  list(principal: Principal): readonly TaskSnapshot[] {
    return this.#table.made?.list(principal) ?? [];
  }

  respond(id: string, principal: Principal, responses: JsonObject): boolean {
    return this.#table.made?.respond(id, principal, responses) ?? false;
  }

  refuse(id: string, principal: Principal, refused: RefusedInput): boolean {
    return this.#table.made?.refuse(id, principal, refused) ?? false;
  }

  cancel(id: string, principal: Principal): boolean {
    return this.#table.made?.cancel(id, principal) ?? false;
  }

  async ended(id: string, principal: Principal, signal: AbortSignal): Promise<TaskSnapshot | undefined> {
    return await this.#table.made?.ended(id, principal, signal);
  }

  /** Closes the journal. A table that is being loaded is closed when it is loaded. */
  async close(): Promise<void> {
    if (this.#table.made) await this.#table.made.close();
    else this.#table.whenMade((table) => table.close());
  }

  #createRules({ isOffered, supports }: TaskOptions): TaskSupportRules | undefined {
    if (!isOffered) return undefined;
    return { supports: (tool, isDeclared) => supports(isDeclared, () => this.#findSubject(tool)) };
  }
}
