import type { JsonObject } from "../json/json.ts";
import type { OptionSchema } from "../options/option-schema.ts";
import type { Provider } from "../sources/provider.ts";

/** Applies changed configuration files, one change at a time. */
export interface ConfigReloader {
  /** Rejects if the configuration cannot be applied. */
  apply(): Promise<void>;
  /** Applies the current configuration again. */
  reconsider(): Promise<void>;
}

/** The configuration of a running hub, and the actions of an administrator on its sources. */
export interface HubControl {
  /** Absolute paths of the configuration files in force, in order of rising precedence. */
  readonly files: readonly string[];
  /** The checked configuration, with resolved variables and secrets. Must not leave the hub. */
  readonly tree: JsonObject;
  /** Schema of the whole configuration. */
  readonly schema: OptionSchema;
  /** Resolved secrets of the configuration. */
  readonly secrets: readonly string[];
  /** The running sources, in the order of the configuration. */
  readonly providers: readonly Provider[];
  /**
   * Reads the lists of a source again, connecting first if needed. Resolves with false if there is no such source, or
   * if the source reads its lists at every request anyway. Rejects with a `FailError`.
   */
  refresh(id: string, signal: AbortSignal): Promise<boolean>;
  /** Ends a source and starts it again. Resolves with false if there is no such source. */
  restart(id: string): Promise<boolean>;
  /** Reads the configuration files again and applies them. Rejects with the reason if they cannot be applied. */
  reload(): Promise<void>;
  /** Sets the reloader of the program that serves the hub. */
  reloadWith(reloader: ConfigReloader): void;
}
