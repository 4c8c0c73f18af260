/** A term with its weight: 1 for a word of the query, less for a translation or a synonym. */
export interface WeightedTerm {
  readonly term: string;
  readonly weight: number;
}

/**
 * The terms of one word of a query with their weights: its stems in each language of the library, translations,
 * synonyms. A passage matches if it contains any term.
 */
export type TermGroup = ReadonlyMap<string, number>;

/** Returns a group of terms that all have the weight 1. */
export function termGroup(...terms: readonly string[]): TermGroup {
  return new Map(terms.map((term) => [term, 1]));
}

/** Returns the terms of the groups. */
export function termsIn(groups: readonly TermGroup[]): string[] {
  return groups.flatMap((group) => Array.from(group.keys()));
}
