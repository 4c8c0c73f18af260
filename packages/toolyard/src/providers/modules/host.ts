import type { Logger } from "../../core/ports/ports.ts";
import type { ModuleHub } from "./api.ts";
import type { RegistrationEvents, Registrations } from "./registrations.ts";
import { RunningModule } from "./running-module.ts";

/** A loaded module. */
export interface LoadedModule {
  /** Dotted name derived from the path. */
  readonly name: string;
  readonly path: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly registrations: Registrations;
}

/** The current source that a host is attached to. */
export interface HostedSource extends RegistrationEvents {
  loadedModules(): readonly LoadedModule[];
}

/**
 * Connection between the program that creates a hub and the source of modules. The program registers tools in addition
 * to the modules, before the source exists and across its replacements. Its registrations override those of modules. It
 * may supply its own interface for modules.
 */
export class ModulesHost {
  readonly own: RunningModule;
  /** Returns the object that is passed to a module's `registerTools`. */
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

  /** Attaches the source. Returns a function that detaches it. */
  attach(source: HostedSource): () => void {
    this.#source = source;
    return () => {
      if (this.#source === source) this.#source = undefined;
    };
  }
}
