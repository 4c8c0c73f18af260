import { Deadline } from "../../core/calls/deadline.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "../faults.ts";

/** Maximum time for a server to set its level. */
const NOTE_MS = 10_000;

/** The log level requested from one server, over every connection to it. */
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

  /** Sets the level on one connection. Never rejects, because a refusal by one server must not affect the others. */
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
