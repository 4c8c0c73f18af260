import { changedTools } from "../../core/sources/definition-digest.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { ListingProblem, ServerListing } from "./listing.ts";

/**
 * Maximum number of problems of one server's lists that are logged, each once. The status shows all current problems.
 */
const MAX_LOGGED_PROBLEMS = 200;
/** Maximum number of reported names of changed tools. */
const MAX_CHANGED_TOOLS = 50;
const CHANGED = "Its definition changed since it was last read. Review it; `pins` keeps the approved tool.";

const RESTLESS: ListingProblem = Object.freeze({
  subject: "list_changed",
  message:
    "The server announces changes of its lists without end, for example whenever they are read. They are read at " +
    "growing intervals, up to one minute, so a real change may be seen late. Report this to the server's author.",
});

/** Problems of one server's listings that appear only over time, and log lines for all problems. */
export class ListingProblems {
  readonly #logger: Logger;
  readonly #changedTools = new Set<string>();
  readonly #logged = new Set<string>();
  #isRestless = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Records the tools whose definition has changed, because users may have approved the earlier one (S12). */
  compare(before: ServerListing | undefined, after: ServerListing): void {
    for (const name of changedTools(before?.tools ?? [], after.tools))
      if (this.#changedTools.size < MAX_CHANGED_TOOLS) this.#changedTools.add(name);
  }

  /** Records whether the server announces changes without end. Returns whether that has changed. */
  setRestless(isRestless: boolean): boolean {
    const isNew = isRestless !== this.#isRestless;
    this.#isRestless = isRestless;
    return isNew;
  }

  /** Returns the listing with the problems that were found over time. */
  addTo(listing: ServerListing): ServerListing {
    const problems: ListingProblem[] = Array.from(this.#changedTools, (subject) => ({
      subject,
      message: CHANGED,
      changed: true,
    }));
    if (this.#isRestless) problems.push(RESTLESS);
    return problems.length === 0 ? listing : { ...listing, problems: [...listing.problems, ...problems] };
  }

  /** Logs problems that were not logged before. */
  log(problems: readonly ListingProblem[]): void {
    for (const { subject, message } of problems) {
      const key = `${subject}\n${message}`;
      if (this.#logged.size >= MAX_LOGGED_PROBLEMS || this.#logged.has(key)) continue;
      this.#logged.add(key);
      this.#logger.warning(message, { subject });
    }
  }
}
