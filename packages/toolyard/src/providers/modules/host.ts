import type { Logger } from "../../core/ports/ports.ts";
import type { ModuleHub } from "./api.ts";
import type { RegistrationEvents, Registrations } from "./registrations.ts";
import { RunningModule } from "./running-module.ts";

/** A loaded module. */
export interface LoadedModule {
  /** Dotted, from its path. */
  readonly name: string;
  readonly path: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly registrations: Registrations;
}

/** The current source of a host. */
export interface HostedSource extends RegistrationEvents {
  loadedModules(): readonly LoadedModule[];
}

/**
 * The program that creates a hub, from the view of the modules source: the program registers in addition to the
 * modules, before the source exists and across its replacements, and its registrations override theirs. It may supply
 * its own interface for modules.
 */
export class ModulesHost {
  readonly own: RunningModule;
  /** Returns the argument of a module's `registerTools`. */
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

  /** Returns a function that detaches the source. */
  attach(source: HostedSource): () => void {
    this.#source = source;
    return () => {
      if (this.#source === source) this.#source = undefined;
    };
  }
}
