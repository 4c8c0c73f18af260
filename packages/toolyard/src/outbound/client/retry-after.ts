const MAX_RETRY_AFTER_MS = 24 * 3600 * 1000;

/**
 * Returns the milliseconds of a `Retry-After` header with seconds or a date, at most a day; undefined if it has
 * neither.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : undefined;
}
