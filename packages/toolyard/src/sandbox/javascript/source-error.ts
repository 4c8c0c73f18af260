/** Source text for the interpreter. */
export interface SourceText {
  readonly name: string;
  readonly code: string;
  /** The same as the call of a function, for code with `return` at its top. */
  readonly wrapped: string;
  /** Characters before the code in the first line of `wrapped`. */
  readonly wrapperChars: number;
}

/** Code with a syntax error at a line. */
export class SourceError extends Error {
  override readonly name = "SyntaxError";
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
