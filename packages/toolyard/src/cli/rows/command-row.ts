import type { Option } from "commander";
import type { Io } from "../output/io.ts";

/** Options that every command understands. */
export interface SharedOptions {
  readonly config?: readonly string[];
  readonly url?: string;
  readonly tokenEnv?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  /** What a configuration file of somebody else starts is accepted. */
  readonly yes?: boolean;
  /** The files of `config` were found by the process that started this one; nobody named them. */
  readonly found?: boolean;
}

/** Runs one command and gives the exit code. */
export type CommandAction<Options extends SharedOptions = SharedOptions> = (
  args: readonly string[],
  options: Options,
  io: Io,
) => Promise<number>;

export interface CommandRow {
  /** Name and arguments as commander writes them. */
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly options: readonly Option[];
  /** Returns what to do instead when an argument is given that the command does not have. */
  readonly excessAdvice?: (argument: string) => string;
  /** Loaded only when the command is used. Absent: one of `commands` must follow. */
  readonly load?: () => Promise<{ run: CommandAction<never> }>;
  readonly commands?: readonly CommandRow[];
}
