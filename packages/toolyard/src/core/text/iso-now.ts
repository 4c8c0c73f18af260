let at = Number.NaN;
let text = "";

/**
 * Returns the current time in ISO 8601 with milliseconds. Formatted once per millisecond, since every call uses it.
 */
export function isoNow(): string {
  const now = Date.now();
  if (now !== at) {
    at = now;
    text = new Date(now).toISOString();
  }
  return text;
}
