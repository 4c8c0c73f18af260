/** Source text for the interpreter. */
export interface SourceText {
  readonly name: string;
  readonly code: string;
  /** The code wrapped in a function call, for code with `return` outside of functions. */
  readonly wrapped: string;
  /** Number of characters before the code in the first line of `wrapped`. */
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
