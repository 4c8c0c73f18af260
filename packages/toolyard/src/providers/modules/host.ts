import type { Logger } from "../../core/ports/ports.ts";
import type { ModuleHub } from "./api.ts";
import type { RegistrationEvents, Registrations } from "./registrations.ts";
import { RunningModule } from "./running-module.ts";

/** A module that is loaded. */
export interface LoadedModule {
  /** Dotted, from its path. */
  readonly name: string;
  readonly path: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly registrations: Registrations;
}

/** The source that a host belongs to at the moment. */
export interface HostedSource extends RegistrationEvents {
  loadedModules(): readonly LoadedModule[];
}

/**
 * A program that makes a hub, as the modules source sees it: the program registers beside the modules, before the
 * source is there and over its replacements, and what it registers wins over theirs. It may lend modules a face of its
 * own to register with.
 */
export class ModulesHost {
  readonly own: RunningModule;
  /** What a module's `registerTools` is called with. */
  readonly faceOf: (hub: ModuleHub) => ModuleHub;
  #source: HostedSource | undefined;

  constructor(logger: Logger, faceOf: (hub: ModuleHub) => ModuleHub = (hub) => hub) {
    this.faceOf = faceOf;
    this.own = new RunningModule(logger, {
      isProgram: true,
      changed: () => this.#source?.changed(),
      resourceUpdated: (uri) => this.#source?.resourceUpdated(uri),
    });
  }

  get modules(): readonly LoadedModule[] {
    return this.#source?.loadedModules() ?? [];
  }

  /** Returns what ends it. */
  attach(source: HostedSource): () => void {
    this.#source = source;
    return () => {
      if (this.#source === source) this.#source = undefined;
    };
  }
}
