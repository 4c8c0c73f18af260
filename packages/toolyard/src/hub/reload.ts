import type { LoadedHubConfig } from "./schema.ts";
import { watchFiles } from "../config/watch.ts";
import { messageOf } from "../core/errors.ts";
import type { Hub } from "./hub.ts";
import { logConfig } from "./log-config.ts";
import type { SourceChanges } from "./sources/source-set.ts";

export interface ReloadOptions {
  readonly hub: Hub;
  /** Reads the configuration again, the same layers as at the start. */
  readonly load: () => Promise<LoadedHubConfig>;
  /** Hears of each configuration that was taken over. */
  readonly onReloaded?: (config: LoadedHubConfig, changes: SourceChanges) => Promise<void>;
}

/** Sections that are read once. */
const AT_START_ONLY = ["logging", "audit", "catalog", "telemetry"] as const;

/** Takes configurations over while the hub runs, one after the other; a bad one changes nothing and is reported. */
export class Reloader {
  readonly #options: ReloadOptions;
  #turn: Promise<void> = Promise.resolve();
  #stopWatching: (() => Promise<void>) | undefined;

  constructor(options: ReloadOptions) {
    this.#options = options;
  }

  /** Reloads whenever one of the files changes. */
  async watch(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    this.#stopWatching = await watchFiles(files, () => void this.reload());
    // Changes between the first load and now were not reported by the watcher.
    void this.reload();
  }

  /**
   * Resolves when the reload, and every one asked for before it, is over. Never rejects: a bad configuration is logged.
   */
  reload(): Promise<void> {
    const { hub } = this.#options;
    return this.apply().catch((error: unknown) =>
      hub.logger.error("The configuration was not applied; the previous one stays in force.", {
        reason: messageOf(error),
      }),
    );
  }

  /** Like `reload`, but rejects when the configuration cannot be taken over. */
  apply(): Promise<void> {
    const applied = this.#turn.then(() => this.#apply());
    this.#turn = applied.catch(() => {});
    return applied;
  }

  /** Applies the current configuration again to open endpoints. */
  reconsider(): Promise<void> {
    const done = this.#turn.then(async () => void (await this.#options.hub.reconfigure(this.#options.hub.config)));
    this.#turn = done.catch(() => {});
    return done;
  }

  async close(): Promise<void> {
    await this.#stopWatching?.();
    await this.#turn;
  }

  async #apply(): Promise<void> {
    const { hub, load, onReloaded } = this.#options;
    const before = hub.config;
    const config = await load();
    if (JSON.stringify([config.tree, config.unusable]) === JSON.stringify([before.tree, before.unusable])) return;
    const changes = await hub.reconfigure(config);
    logConfig(config, hub.logger);
    hub.logger.info("The configuration was taken over.", {
      added: changes.added,
      changed: changes.changed,
      removed: changes.removed,
    });
    const late = AT_START_ONLY.filter(
      (section) => JSON.stringify(config.tree[section]) !== JSON.stringify(before.tree[section]),
    );
    if (late.length > 0)
      hub.logger.warning(
        `Changes of ${late.map((section) => `[${section}]`).join(", ")} take effect when the hub is started anew.`,
      );
    await onReloaded?.(config, changes);
  }
}
