/**
 * Thrown for a pattern that is invalid, or that contains something that cannot be matched in bounded time. The message
 * names it.
 */
export class PatternError extends Error {
  override readonly name = "PatternError";
}
