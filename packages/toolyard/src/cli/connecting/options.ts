import type { SharedOptions } from "../rows/command-row.ts";
import type { Io } from "../output/io.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { LoadedHubConfig } from "../../hub/schema.ts";

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

/** The configuration to connect clients to. */
export interface Target {
  readonly path: string;
  readonly files: readonly string[];
  /** Why no server can be added. Absent: servers can be added. */
  readonly closed?: string;
}

/** The hub as clients will get it. */
export interface ConnectedHubState {
  readonly config: LoadedHubConfig;
  /** Its servers, by name, including those about to be added. */
  readonly servers: ReadonlyMap<string, JsonObject>;
}

/** Shared context of the steps of one `connect`. */
export interface ConnectWork {
  readonly options: ConnectOptions;
  readonly io: Io;
  readonly target: Target;
}
