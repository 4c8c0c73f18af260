/** What the interpreter is given. */
export interface Source {
  readonly name: string;
  readonly code: string;
  /** The same as the call of a function, for code with `return` at its top. */
  readonly wrapped: string;
  /** What stands before the code in the first line of `wrapped`, in characters. */
  readonly wrapperChars: number;
}

/** Code that cannot be read, at a line of its own. */
export class SourceError extends Error {
  override readonly name = "SyntaxError";
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
