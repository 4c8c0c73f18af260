import { setMaxListeners } from "node:events";
import { extname } from "node:path";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Child } from "../../process/child.ts";
import type { HubPorts } from "../calling/hub-access.ts";
import { KILL_GRACE_MS } from "./ending.ts";
import type { RunSettings } from "./run-settings.ts";

/** The properties of a tool's code on which its requirements depend. */
export interface ScriptCode {
  readonly name: string;
  readonly file: string;
  /** Working folder. */
  readonly folder: string;
  readonly settings: RunSettings;
}

/** Supplies interpreters with the packages that scripts require. */
export interface ScriptInterpreters {
  /**
   * Returns the interpreter for the script's header; undefined if it has no header. Waits while the interpreter is
   * being prepared, within a limit. Rejects with a `FailError` with advice if there is none.
   */
  pythonFor(code: ScriptCode): Promise<string | undefined>;
}

export interface ScriptHostOptions {
  /** Folders from which scripts can import; they are added to PYTHONPATH and NODE_PATH. */
  readonly libraries: readonly string[];
  /** Maximum output of one call's child. */
  readonly maxOutputBytes: number;
  /** Receives the log messages of children, like the callers do. */
  readonly logger: Logger;
  /** The hub's functions for running code. */
  readonly ports: HubPorts;
  /** Supplies interpreters for script headers. @default script headers have no effect */
  readonly interpreters?: ScriptInterpreters;
}

/** The common settings of one provider's script children. Ends all of them when it closes. */
export class ScriptHost {
  readonly libraries: readonly string[];
  readonly maxOutputBytes: number;
  readonly logger: Logger;
  readonly ports: HubPorts;
  readonly #interpreters: ScriptInterpreters | undefined;
  /** Children whose process trees have not been confirmed as ended. */
  readonly living = new Set<Child>();
  readonly #controller = new AbortController();

  constructor({ libraries, maxOutputBytes, logger, ports, interpreters }: ScriptHostOptions) {
    this.libraries = libraries;
    this.maxOutputBytes = maxOutputBytes;
    this.logger = logger;
    this.ports = ports;
    this.#interpreters = interpreters;
    // Every running call adds a listener, so many listeners are not a leak.
    setMaxListeners(0, this.closing);
  }

  get closing(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Returns the interpreter for the header of a script, like `ScriptInterpreters`. Behind bubblewrap, headers have no
   * effect.
   */
  async pythonFor(code: ScriptCode): Promise<{ readonly python?: string }> {
    if (code.settings.isolation.mode !== "process" || extname(code.file).toLowerCase() !== ".py") return {};
    const python = await this.#interpreters?.pythonFor(code);
    return python === undefined ? {} : { python };
  }

  /** Ends every child with its process tree. Resolves when they have exited. */
  async close(): Promise<void> {
    this.#controller.abort(new FailError(fail("unavailable", "The hub is closing; the call was ended.")));
    await Promise.all(Array.from(this.living, (child) => child.kill(KILL_GRACE_MS)));
  }
}
