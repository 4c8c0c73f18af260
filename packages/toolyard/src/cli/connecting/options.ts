import type { SharedOptions } from "../rows/command-row.ts";
import type { Io } from "../output/io.ts";
import type { Target } from "./target.ts";

export interface ConnectOptions extends SharedOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly http?: boolean;
  readonly own?: boolean;
  /** The client keeps its servers. */
  readonly keep?: boolean;
  readonly mode?: string;
  readonly era?: "auto" | "legacy";
  /** Name of the profile that the client gets. */
  readonly profile?: string;
}

/** What every step of one `connect` needs. */
export interface ConnectWork {
  readonly options: ConnectOptions;
  readonly io: Io;
  readonly target: Target;
}
