import type { Fail } from "../core/outcome.ts";
import type { Logger } from "../core/ports.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "./faults.ts";
import { StderrLog } from "./stderr-log.ts";

/** What the log hears of one server: its connections as they come and go, and its lines on stderr. */
export class ServerJournal {
  readonly stderr: StderrLog;
  readonly #logger: Logger;
  #saidLast = "";

  constructor(logger: Logger) {
    this.#logger = logger;
    this.stderr = new StderrLog(logger);
  }

  connected({ era: { name, revision, serverInfo } }: Connection): void {
    this.#saidLast = "";
    this.#logger.info("Connected.", {
      era: name,
      revision,
      server: serverInfo["name"],
      serverVersion: serverInfo["version"],
    });
  }

  connectedFor(label: string, connection: Connection): void {
    const { pid } = connection.describe();
    this.#logger.info("A further connection to this server is open.", {
      for: label,
      ...(pid !== undefined && { pid }),
    });
    this.connected(connection);
  }

  // A server that cannot be reached is news once, not at every attempt.
  down(failure: Fail): void {
    const facts = { kind: failure.kind, stderr: this.stderr.lines().slice(-10) };
    if (failure.message === this.#saidLast) return this.#logger.debug(failure.message, facts);
    this.#saidLast = failure.message;
    this.#logger.warning(failure.message, facts);
  }

  notSubscribed(error: unknown): void {
    this.#logger.warning("The server does not tell of changes: the subscription failed.", {
      error: failureOf(error).message,
    });
  }
}
