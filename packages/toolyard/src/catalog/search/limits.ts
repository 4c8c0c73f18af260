/** Default number of results with schema of `tool_search`. */
export const DEFAULT_RESULTS = 5;
/** Maximum number of results with schema. */
export const MAX_RESULTS = 100;
/** Maximum number of results without schema, after those with schema. */
export const FURTHER_RESULTS = 20;

/**
 * Returns the number of results: a whole number from 1 to 100. Returns 5 for values below 1 and for values that are not
 * numbers.
 */
export function resolveMaxResults(value: unknown): number {
  if (typeof value !== "number" || Number.isNaN(value)) return DEFAULT_RESULTS;
  const whole = Math.floor(value);
  return whole < 1 ? DEFAULT_RESULTS : Math.min(whole, MAX_RESULTS);
}
