import { nearest } from "../language/nearest.ts";
import type { NameTable } from "../language/names.ts";
import { TERMS } from "./ontology-names.ts";

/**
 * Maximum number of names that the suggestions of one model compare. A suggestion compares all names, so large models
 * get fewer suggestions.
 */
const MAX_COMPARED = 20_000;

interface Names {
  readonly variables: NameTable<unknown>;
  readonly parameters: ReadonlyMap<string, unknown>;
}

/** Suggests known words for unknown ones. */
export class Suggestions {
  readonly #names: Names;
  #compared = 0;

  constructor(names: Names) {
    this.#names = names;
  }

  variable(word: string): string | undefined {
    const { variables } = this.#names;
    return this.#nearest(word, variables.size, () => variables.names());
  }

  /** Suggests a parameter, or the length of a variable. */
  length(word: string): string | undefined {
    const { variables, parameters } = this.#names;
    return this.#nearest(word, variables.size + parameters.size, () => [...parameters.keys(), ...variables.names()]);
  }

  term(word: string): string | undefined {
    return this.#nearest(word, TERMS.size, () => TERMS);
  }

  /** The first word is always compared, so that a large model with one mistake gets its suggestion. */
  #nearest(word: string, count: number, candidates: () => Iterable<string>): string | undefined {
    if (this.#compared > 0 && this.#compared + count > MAX_COMPARED) return undefined;
    this.#compared += count;
    return nearest(word, candidates());
  }
}
