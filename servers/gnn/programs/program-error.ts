/** Why no program can be made of a model, in words for whoever wrote it; `construct` is what stands in the way. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  readonly construct: string;

  constructor(construct: string, message: string) {
    super(message);
    this.construct = construct;
  }
}
