import type { Principal } from "../../core/calls/call.ts";
import { Emitter } from "../../core/events.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { Late } from "../../core/late.ts";
import type { Subject } from "../../core/ports/permission.ts";
import type {
  RefusedInput,
  StartedCall,
  TaskCall,
  TaskChange,
  TaskRun,
  Tasks,
  TaskSnapshot,
  TaskSupportRules,
} from "../../core/ports/tasks.ts";
import type { TaskOptions } from "./options.ts";
import type { TaskTable } from "./task-table.ts";

export interface LateTasksParts {
  readonly options: () => TaskOptions;
  /** Returns what patterns of the configuration are compared with, by the name of a tool as callers see it. */
  readonly findSubject: (tool: string) => Subject | undefined;
  /** Loads the table, which reports changes of its tasks to `changed`. */
  readonly load: (changed: Emitter<TaskChange>) => Promise<TaskTable>;
}

/** Tasks whose code is loaded by the first of them. Before `ready` there are none. */
export class LateTasks implements Tasks {
  readonly changed = new Emitter<TaskChange>();
  readonly #options: LateTasksParts["options"];
  readonly #findSubject: LateTasksParts["findSubject"];
  readonly #table: Late<TaskTable>;
  #support: { readonly options: TaskOptions; readonly rules: TaskSupportRules | undefined } | undefined;

  constructor({ options, findSubject, load }: LateTasksParts) {
    this.#options = options;
    this.#findSubject = findSubject;
    this.#table = new Late(() => load(this.changed));
  }

  get isOffered(): boolean {
    return this.#options().isOffered;
  }

  get supportRules(): TaskSupportRules | undefined {
    const options = this.#options();
    if (this.#support?.options !== options) this.#support = { options, rules: this.#createRules(options) };
    return this.#support.rules;
  }

  async ready(): Promise<void> {
    await (await this.#table.get()).ready();
  }

  hasRoomFor(principal: Principal): boolean {
    return this.#table.made?.hasRoomFor(principal) ?? true;
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
