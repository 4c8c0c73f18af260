import { Deadline } from "../../core/calls/deadline.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "../faults.ts";

/** How long a server may take to note it. */
const NOTE_MS = 10_000;

/** From which level on one server is asked to log, over every connection to it. */
export class ServerLogLevel {
  readonly #logger: Logger;
  #level: string | undefined;

  constructor(level: string | undefined, logger: Logger) {
    this.#level = level;
    this.#logger = logger;
  }

  async set(level: string, connections: readonly Connection[]): Promise<void> {
    this.#level = level;
    await Promise.all(connections.map((connection) => this.tell(connection)));
  }

  /** Tells one connection. Never rejects: that one server refuses is no reason for the others to stay silent. */
  async tell(connection: Connection): Promise<void> {
    if (this.#level === undefined) return;
    const deadline = new Deadline({ idleMs: NOTE_MS, totalMs: NOTE_MS });
    try {
      await connection.setLogLevel(this.#level, deadline.signal);
    } catch (error) {
      this.#logger.debug("The server refused the log level.", { error: failureOf(error).message });
    } finally {
      deadline.clear();
    }
  }
}
