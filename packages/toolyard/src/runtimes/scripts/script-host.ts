import { setMaxListeners } from "node:events";
import { extname } from "node:path";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Child } from "../../process/child.ts";
import type { HubPorts } from "../calling/hub-access.ts";
import { KILL_GRACE_MS } from "./ending.ts";
import type { RunSettings } from "./run-settings.ts";

/** Code of a tool, as far as what it needs installed depends on it. */
export interface ScriptCode {
  readonly name: string;
  readonly file: string;
  /** Working folder. */
  readonly folder: string;
  readonly settings: RunSettings;
}

/** Interpreters that have what scripts need installed. */
export interface ScriptInterpreters {
  /**
   * The one that the script's own header asks for; undefined where it asks for none. While it is being prepared it is
   * waited for, within a bound. Rejects with a `FailError` that says what to do where there is none.
   */
  pythonFor(code: ScriptCode): Promise<string | undefined>;
}

export interface ScriptHostOptions {
  /** Folders that scripts import from: on PYTHONPATH and NODE_PATH. */
  readonly libraries: readonly string[];
  /** Bound over all that one call's child writes. */
  readonly maxOutputBytes: number;
  /** Hears what the children say on the side, as their callers do. */
  readonly logger: Logger;
  /** What running code may use of the hub. */
  readonly ports: HubPorts;
  /** @default headers of scripts mean nothing */
  readonly interpreters?: ScriptInterpreters;
}

/** What the script children of one provider have in common: settings, and an end. */
export class ScriptHost {
  readonly libraries: readonly string[];
  readonly maxOutputBytes: number;
  readonly logger: Logger;
  readonly ports: HubPorts;
  readonly #interpreters: ScriptInterpreters | undefined;
  /** Children whose tree is not known to be gone. */
  readonly living = new Set<Child>();
  readonly #controller = new AbortController();

  constructor({ libraries, maxOutputBytes, logger, ports, interpreters }: ScriptHostOptions) {
    this.libraries = libraries;
    this.maxOutputBytes = maxOutputBytes;
    this.logger = logger;
    this.ports = ports;
    this.#interpreters = interpreters;
    // Every running call listens here.
    setMaxListeners(0, this.closing);
  }

  get closing(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * The interpreter that the header of a script asks for, as `ScriptInterpreters` has it. Behind a wall nothing of the
   * machine is there, so no header counts.
   */
  async pythonFor(code: ScriptCode): Promise<{ readonly python?: string }> {
    if (code.settings.isolation.mode !== "process" || extname(code.file).toLowerCase() !== ".py") return {};
    const python = await this.#interpreters?.pythonFor(code);
    return python === undefined ? {} : { python };
  }

  /** Ends every child with its tree. Resolves when they are gone. */
  async close(): Promise<void> {
    this.#controller.abort(new FailError(fail("unavailable", "The hub is closing; the call was ended.")));
    await Promise.all(Array.from(this.living, (child) => child.kill(KILL_GRACE_MS)));
  }
}
