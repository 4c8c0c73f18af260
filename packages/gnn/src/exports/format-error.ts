/** Reason why a text of another format cannot be read, or why a model cannot be written in one. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}
