import type { SharedOptions } from "../rows/command-row.ts";
import type { Io } from "../output/io.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { LoadedHubConfig } from "../../hub/schema.ts";

export interface ConnectOptions extends SharedOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly http?: boolean;
  readonly own?: boolean;
  /** True if the client keeps its servers. */
  readonly keep?: boolean;
  readonly mode?: string;
  readonly era?: "auto" | "legacy";
  /** Name of the client's profile. */
  readonly profile?: string;
}

/** Configuration of the hub to which clients are connected. */
export interface Target {
  readonly path: string;
  readonly files: readonly string[];
  /** Reason why no server can be added. Absent if servers can be added. */
  readonly closed?: string;
}

/** State of the hub as clients will use it. */
export interface ConnectedHubState {
  readonly config: LoadedHubConfig;
  /** Servers by name, including those about to be added. */
  readonly servers: ReadonlyMap<string, JsonObject>;
}

/** Shared context of the steps of one `connect`. */
export interface ConnectWork {
  readonly options: ConnectOptions;
  readonly io: Io;
  readonly target: Target;
}
