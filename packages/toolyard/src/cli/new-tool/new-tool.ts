/** What a new tool consists of. */
export interface NewTool {
  /** Text of each file, by its name in the tool's folder. */
  readonly files: Readonly<Record<string, string>>;
  /** What it is called by. */
  readonly tool: string;
  /** The command that runs its test; `{folder}` is the tool's. */
  readonly test: string;
}
