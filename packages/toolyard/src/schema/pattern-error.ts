/**
 * The pattern uses something that cannot be matched in bounded time, or is no pattern at all. The message says what.
 */
export class PatternError extends Error {
  override readonly name = "PatternError";
}
