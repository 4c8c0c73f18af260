let at = Number.NaN;
let text = "";

/** Now, as ISO 8601 with milliseconds. Made once a millisecond, since every call asks. */
export function isoNow(): string {
  const now = Date.now();
  if (now !== at) {
    at = now;
    text = new Date(now).toISOString();
  }
  return text;
}
