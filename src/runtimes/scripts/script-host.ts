import { setMaxListeners } from "node:events";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/outcome.ts";
import type { Logger } from "../../core/ports.ts";
import type { Child } from "../../process/child.ts";
import type { HubPorts } from "../calling/hub-access.ts";
import { KILL_GRACE_MS } from "./ending.ts";

export interface ScriptHostOptions {
  /** Folders that scripts import from: on PYTHONPATH and NODE_PATH. */
  readonly libraries: readonly string[];
  /** Bound over all that one call's child writes. */
  readonly maxOutputBytes: number;
  /** Hears what the children say on the side, as their callers do. */
  readonly logger: Logger;
  /** What running code may use of the hub. */
  readonly ports: HubPorts;
}

/** What the script children of one provider have in common: settings, and an end. */
export class ScriptHost {
  readonly libraries: readonly string[];
  readonly maxOutputBytes: number;
  readonly logger: Logger;
  readonly ports: HubPorts;
  /** Children whose tree is not known to be gone. */
  readonly living = new Set<Child>();
  readonly #controller = new AbortController();

  constructor({ libraries, maxOutputBytes, logger, ports }: ScriptHostOptions) {
    this.libraries = libraries;
    this.maxOutputBytes = maxOutputBytes;
    this.logger = logger;
    this.ports = ports;
    // Every running call listens here.
    setMaxListeners(0, this.closing);
  }

  get closing(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends every child with its tree. Resolves when they are gone. */
  async close(): Promise<void> {
    this.#controller.abort(new FailError(fail("unavailable", "The hub is closing; the call was ended.")));
    await Promise.all(Array.from(this.living, (child) => child.kill(KILL_GRACE_MS)));
  }
}
