import type { Option } from "commander";
import type { Io } from "../output/io.ts";

/** Options of every command. */
export interface SharedOptions {
  readonly config?: readonly string[];
  readonly url?: string;
  readonly tokenEnv?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
  /** Accept what a configuration file of another user starts. */
  readonly yes?: boolean;
  /** The process that started this one found the files of `config`; no user named them. */
  readonly found?: boolean;
}

/** Runs one command and returns the exit code. */
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
  /** Returns advice for a surplus argument. */
  readonly excessAdvice?: (argument: string) => string;
  /** Loaded only when the command is used. Absent: one of `commands` must follow. */
  readonly load?: () => Promise<{ run: CommandAction<never> }>;
  readonly commands?: readonly CommandRow[];
}
