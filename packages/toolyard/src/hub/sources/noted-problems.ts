import type { Problem } from "../../core/sources/records.ts";

/**
 * Maximum number of problems that are kept. The number of faulty schemas is not limited, because other servers send
 * them.
 */
const MAX_NOTED = 1000;

/** Problems that are found only by a call, such as a schema that cannot be compiled. */
export class NotedProblems {
  readonly #noted = new Map<string, Problem>();

  /** Adds a problem. It replaces an earlier one of the same subject. */
  note(problem: Problem): void {
    if (this.#noted.size < MAX_NOTED) this.#noted.set(`${problem.source} ${problem.subject}`, problem);
  }

  of(sourceId: string): readonly Problem[] {
    return [...this.#noted.values()].filter(({ source }) => source === sourceId);
  }

  forget(sourceId: string): void {
    for (const [key, { source }] of this.#noted) if (source === sourceId) this.#noted.delete(key);
  }
}
