import { formatDuration } from "../../core/text/duration.ts";
import { messageOf } from "../../core/errors.ts";
import type { Models } from "../../core/ports/models.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { within } from "../../core/timing/wait.ts";
import type { Graph } from "../../runtimes/typescript/graph.ts";
import { describeImportError, importUserModule } from "../../runtimes/typescript/import-module.ts";
import type { ModuleHub, RegisterTools } from "./api.ts";
import type { FoundModule } from "./discover.ts";
import type { ModulesOptions } from "./options.ts";
import { type RegistrationEvents, Registrations } from "./registrations.ts";

/** Time limit in milliseconds for each function passed to `onClose`. */
const CLOSE_MS = 2000;

/**
 * One imported state of a module file. It is kept until its last call has ended, even if a new state replaces it
 * before.
 */
export class RunningModule {
  readonly registrations: Registrations;
  /** Exports of the module file. */
  exports: Readonly<Record<string, unknown>> = {};
  readonly #logger: Logger;
  #calls = 0;
  #onRetired: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(logger: Logger, events: RegistrationEvents) {
    this.#logger = logger;
    this.registrations = new Registrations(logger, events);
  }

  async use<T>(run: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    try {
      return await run();
    } finally {
      this.#calls -= 1;
      if (this.#onRetired && this.#calls === 0) this.#end();
    }
  }

  /** Accepts no new calls. Runs the functions passed to `onClose` when the running calls have ended. */
  retire(onEnded: () => void = () => {}): void {
    this.registrations.close();
    this.#onRetired = onEnded;
    if (this.#calls === 0) this.#end();
  }

  /** Runs the functions passed to `onClose` now, each at most once and within a time limit. */
  close(): Promise<void> {
    this.registrations.close();
    this.#closing ??= this.#runClosers();
    return this.#closing;
  }

  #end(): void {
    void this.close().then(() => this.#onRetired?.());
  }

  async #runClosers(): Promise<void> {
    await Promise.all(this.registrations.closers.map((close) => this.#runCloser(close)));
  }

  async #runCloser(close: () => void | Promise<void>): Promise<void> {
    try {
      await within(Promise.resolve().then(close), CLOSE_MS, { keepsAlive: false });
    } catch (error) {
      this.#logger.warning(`A function given to onClose failed: ${messageOf(error)}`);
    }
  }
}

export type LoadResult =
  | { readonly type: "running"; readonly module: RunningModule }
  /** The module has no register function. */
  | { readonly type: "empty"; readonly message: string }
  | { readonly type: "failed"; readonly message: string; readonly cause: unknown };

export interface RunningModuleOptions {
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly events: RegistrationEvents;
  readonly faceOf?: (hub: ModuleHub) => ModuleHub;
}

export interface ModuleStartOptions extends RunningModuleOptions {
  readonly options: ModulesOptions;
  readonly models: Models;
}

/** Imports a module file and runs its registrations, within the time limit. Never rejects. */
export async function startModule(
  found: FoundModule,
  graph: Graph,
  options: RunningModuleOptions,
): Promise<LoadResult> {
  const module = new RunningModule(options.logger, options.events);
  try {
    const done = await within(register(graph, module, options.faceOf), options.timeoutMs, { keepsAlive: false });
    if (done === undefined)
      throw new Error(`not done after ${formatDuration(options.timeoutMs)}; \`timeout\` of [modules] is the limit`);
    if (done === "registered") return { type: "running", module };
    return { type: "empty", message: `Module ${found.name} found but has no register_tools function.` };
  } catch (error) {
    module.retire();
    return {
      type: "failed",
      message: `Failed to load or register tools from ${found.path}: ${await describeImportError(error, graph)}`,
      cause: error,
    };
  }
}

async function register(
  graph: Graph,
  module: RunningModule,
  faceOf = (hub: ModuleHub) => hub,
): Promise<"registered" | "empty"> {
  const { namespace } = await importUserModule(graph);
  module.exports = namespace;
  const run = findRegister(namespace);
  if (!run) return "empty";
  await run(faceOf(module.registrations.hub));
  return "registered";
}

/** Returns the register function of a module. In a CommonJS module it may be a member of `default`. */
function findRegister(namespace: Readonly<Record<string, unknown>>): RegisterTools | undefined {
  const places = [namespace, namespace["default"] as Record<string, unknown> | null | undefined];
  for (const place of places) {
    const run = place?.["registerTools"] ?? place?.["register_tools"];
    if (typeof run === "function") return run as RegisterTools;
  }
  return undefined;
}
