import type { Fail } from "../core/calls/outcome.ts";
import type { Logger } from "../core/ports/ports.ts";
import { isLogged } from "../core/calls/logged-failure.ts";
import type { Connection } from "./connection/connection.ts";
import { failureOf } from "./faults.ts";
import { StderrLog } from "./transports/stderr-log.ts";

/** Writes the log entries of one server: about its connections and its stderr lines. */
export class ServerJournal {
  readonly stderr: StderrLog;
  readonly #logger: Logger;
  #saidLast = "";
  #wantsPerson = false;
  #wasNotAsked = false;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.stderr = new StderrLog(logger);
  }

  connected({ era: { name, revision, serverInfo } }: Connection): void {
    this.#saidLast = "";
    this.#wantsPerson = false;
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

  // An unreachable server is logged once, not at every attempt. A server that requires a sign-in is also logged once,
  // even if its message changes.
  down(failure: Fail): void {
    const facts = { kind: failure.kind, stderr: this.stderr.lines().slice(-10) };
    const wantsPerson = failure.kind === "needs_authorisation";
    const isOld = failure.message === this.#saidLast || (wantsPerson && this.#wantsPerson) || isLogged(failure);
    this.#wantsPerson ||= wantsPerson;
    if (isOld) return this.#logger.debug(failure.message, facts);
    this.#saidLast = failure.message;
    this.#logger.warning(failure.message, facts);
  }

  /**
   * Logs once that a call failed because the server can send requests to callers only in the legacy era, and no second
   * process is started for that.
   */
  notAsked(): void {
    if (this.#wasNotAsked) return;
    this.#wasNotAsked = true;
    this.#logger.warning(
      "The server could not ask its caller, since it can do so in the legacy era only, and no second process is " +
        'started for that. Set `era = "legacy"` to use one process of the legacy era for all callers, or ' +
        '`legacy_process = "always"` if two processes do not disturb each other.',
    );
  }

  notSubscribed(error: unknown): void {
    this.#logger.warning("The server does not report changes: the subscription failed.", {
      error: failureOf(error).message,
    });
  }
}
