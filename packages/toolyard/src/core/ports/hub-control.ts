import type { JsonObject } from "../json/json.ts";
import type { OptionSchema } from "../options/option-schema.ts";
import type { Provider } from "../sources/provider.ts";

/** Text of a configuration file that was not written yet. */
export interface FileDraft {
  readonly path: string;
  readonly text: string;
}

/** Effects that a configuration would have on the running hub. */
export interface ReloadPreview {
  /** Ids of the sources that would start, restart and end. */
  readonly sources: {
    readonly added: readonly string[];
    readonly changed: readonly string[];
    readonly removed: readonly string[];
  };
  /** Sections that differ from those of the running hub. */
  readonly sections: readonly string[];
  /** Sections that differ and take effect when the hub is restarted. */
  readonly atRestart: readonly string[];
  /** True if the HTTP endpoint would be opened again, which ends its connections and sessions. */
  readonly reopens: boolean;
  readonly warnings: readonly string[];
}

/** Applies changed configuration files, one change at a time. */
export interface ConfigReloader {
  /** Reason why the configuration that was read last is not in force. Absent if it is in force. */
  readonly problem: string | undefined;
  /** Rejects if the configuration cannot be applied. */
  apply(): Promise<void>;
  /** Applies the current configuration again. */
  reconsider(): Promise<void>;
  /** Checks the configuration with the changed text of a file, without applying it. Rejects like `apply`. */
  preview(draft: FileDraft): Promise<ReloadPreview>;
}

/** The configuration of a running hub, and the actions of an administrator on its sources. */
export interface HubControl {
  /** Absolute paths of the configuration files in force, in order of rising precedence. */
  readonly files: readonly string[];
  /** Origin of each value by path, such as `server.port`: `default`, a file, `env TOOLYARD_SERVER_PORT`, `flag`. */
  readonly origins: ReadonlyMap<string, string>;
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
  /** Reason why the configuration that was read last is not in force. Absent if it is in force. */
  readonly problem: string | undefined;
  /** Reads the configuration files again and applies them. Rejects with the reason if they cannot be applied. */
  reload(): Promise<void>;
  /**
   * Returns the effects of a changed file, without writing or applying it. Rejects with a `ConfigError` or an
   * `OptionError` if `reload` would refuse it.
   */
  preview(draft: FileDraft): Promise<ReloadPreview>;
  /** Sets the reloader of the program that serves the hub. */
  reloadWith(reloader: ConfigReloader): void;
}
