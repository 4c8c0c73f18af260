import type { Mapping } from "../language/model.ts";
import type { ModelView } from "../language/view.ts";
import { NameTable } from "../language/names.ts";
import { isKnownTerm } from "./ontology-names.ts";

export interface OntologyReport {
  readonly valid_mappings: Readonly<Record<string, string>>;
  readonly invalid_terms: Readonly<Record<string, string>>;
  readonly unmapped_model_vars: readonly string[];
}

/** Compares ActInfOntologyAnnotation with the list of terms and the declared variables. */
export function ontologyReport({ mappings, variables }: ModelView): OntologyReport {
  const mapped = new NameTable<true>();
  for (const { name } of mappings) mapped.add(name.text, true);
  return {
    valid_mappings: pairs(mappings.filter(({ term }) => isTerm(term.text))),
    invalid_terms: pairs(mappings.filter(({ term }) => !isTerm(term.text))),
    unmapped_model_vars: variables.map(({ name }) => name.text).filter((name) => !mapped.find(name)),
  };
}

export function isTerm(term: string): boolean {
  return isKnownTerm(term);
}

function pairs(mappings: readonly Mapping[]): Record<string, string> {
  return Object.fromEntries(mappings.map(({ name, term }) => [name.text, term.text]));
}
