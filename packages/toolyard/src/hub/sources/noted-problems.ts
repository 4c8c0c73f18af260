import type { Problem } from "../../core/sources/records.ts";

/** Schemas come from foreign servers, so the number of remembered problems is limited. */
const MAX_NOTED = 1000;

/** Problems that only a call could find, such as a schema that cannot be compiled. */
export class NotedProblems {
  readonly #noted = new Map<string, Problem>();

  /** The newest of one subject counts. */
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
