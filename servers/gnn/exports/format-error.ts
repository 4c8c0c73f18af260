/** Why a text of another format cannot be read, or a model cannot be written in one, in words for whoever asked. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}
