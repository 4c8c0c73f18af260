/** Files, name and test of a new tool. */
export interface NewTool {
  /** Text of each file, by its name in the tool's folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Name of the tool. */
  readonly tool: string;
  /** Command that runs its test; `{folder}` is the tool's folder. */
  readonly test: string;
}
