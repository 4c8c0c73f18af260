/** Error that states why no program can be made from a model. `construct` names the unsupported construct. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  readonly construct: string;

  constructor(construct: string, message: string) {
    super(message);
    this.construct = construct;
  }
}
