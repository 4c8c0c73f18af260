/** Hits with schema that `tool_search` returns by default. */
export const DEFAULT_RESULTS = 5;
/** Most hits with schema. */
export const MAX_RESULTS = 100;
/** Maximum number of hits without schema that follow the hits with schema. */
export const FURTHER_RESULTS = 20;

/**
 * Returns the number of results: a whole number from 1 to 100; 5 for everything below 1 and everything that is not a
 * number.
 */
export function resolveMaxResults(value: unknown): number {
  if (typeof value !== "number" || Number.isNaN(value)) return DEFAULT_RESULTS;
  const whole = Math.floor(value);
  return whole < 1 ? DEFAULT_RESULTS : Math.min(whole, MAX_RESULTS);
}
