import type { Logger } from "../../core/ports/ports.ts";

/** Number of lines that are kept for the status. */
const KEPT_LINES = 40;
/** Maximum number of lines that are logged within one second; further ones are only counted. */
const LINES_PER_SECOND = 50;

/**
 * The stderr output of one server's processes, over restarts. The last lines are kept; each is logged up to the rate
 * limit.
 */
export class StderrLog {
  readonly #logger: Logger;
  #lines: string[] = [];
  #second = 0;
  #inSecond = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  push(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length >= KEPT_LINES * 2) this.#lines = this.#lines.slice(-KEPT_LINES);
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#begin(second);
    this.#inSecond += 1;
    if (this.#inSecond <= LINES_PER_SECOND) this.#logger.debug("stderr", { line });
  }

  /** Removes one kept line for each of these lines, the newest first. They were not written by the server itself. */
  forget(lines: readonly string[]): void {
    for (const line of lines) {
      const at = this.#lines.lastIndexOf(line);
      if (at !== -1) this.#lines.splice(at, 1);
    }
  }

  lines(): readonly string[] {
    return this.#lines.slice(-KEPT_LINES);
  }

  #begin(second: number): void {
    const dropped = this.#inSecond - LINES_PER_SECOND;
    if (dropped > 0) this.#logger.warning(`The server floods stderr: ${dropped} lines were not logged.`);
    this.#second = second;
    this.#inSecond = 0;
  }
}
