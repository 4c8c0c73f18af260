/** Orders equal results by document and position, so that every store returns the same order. */
export function byPlace(
  one: { readonly sourceId: string; readonly ordinal: number },
  other: { readonly sourceId: string; readonly ordinal: number },
): number {
  if (one.sourceId !== other.sourceId) return one.sourceId < other.sourceId ? -1 : 1;
  return one.ordinal - other.ordinal;
}
