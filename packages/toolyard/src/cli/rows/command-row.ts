import type { Option } from "commander";
import type { Io } from "../output/io.ts";

/** Options of every command. */
export interface SharedOptions {
  readonly config?: readonly string[];
  readonly url?: string;
  readonly tokenEnv?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  /** True if the user accepts the programs that a configuration file of another user starts. */
  readonly yes?: boolean;
  /** True if the parent process found the files of `config`. False if the user named them. */
  readonly found?: boolean;
}

/** Runs one command and returns the exit code. */
export type CommandAction<Options extends SharedOptions = SharedOptions> = (
  args: readonly string[],
  options: Options,
  io: Io,
) => Promise<number>;

export interface CommandRow {
  /** Name and arguments in commander's syntax. */
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly options: readonly Option[];
  /** Returns advice for an excess argument. */
  readonly excessAdvice?: (argument: string) => string;
  /** Loads the command when it is used. Absent if a subcommand must follow. */
  readonly load?: () => Promise<{ run: CommandAction<never> }>;
  readonly commands?: readonly CommandRow[];
}
