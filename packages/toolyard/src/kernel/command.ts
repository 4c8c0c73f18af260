import type { Option } from "commander";

/** One command of the command line. */
export interface CommandRow {
  /** Name and arguments as commander writes them. */
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly options: readonly Option[];
  /** Loaded only when the command is used. Absent: one of `commands` must follow. */
  readonly load?: () => Promise<CommandModule>;
  readonly commands?: readonly CommandRow[];
}

/** `run` (`cli/rows/command-row.ts`) takes arguments, options and streams, and resolves with the exit code. */
export interface CommandModule {
  readonly run: (args: readonly string[], options: never, io: never) => Promise<number>;
}

/** Options that commands of several features have. */
export interface CommandOptions {
  readonly config: Option;
  readonly yes: Option;
  readonly url: Option;
  readonly tokenEnv: Option;
  readonly json: Option;
  readonly verbose: Option;
  readonly timeout: Option;
}

/** The commands of one feature. */
export interface FeatureCommands {
  readonly commandRows: (shared: CommandOptions) => readonly CommandRow[];
}
