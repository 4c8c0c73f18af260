import type { LoadedHubConfig } from "./schema.ts";
import { watchFiles } from "../config/watch.ts";
import { messageOf } from "../core/errors.ts";
import { HUB_CONTROL } from "../core/services.ts";
import { AUDIT } from "../core/services.ts";
import { getService } from "../kernel/start-features.ts";
import type { FileDraft, ReloadPreview } from "../core/ports/hub-control.ts";
import { changedSections, sectionsAtRestart } from "./changed-sections.ts";
import type { Hub } from "./hub.ts";
import { logConfig } from "./log-config.ts";
import type { SourceChanges } from "./sources/source-set.ts";

export interface ReloadOptions {
  readonly hub: Hub;
  /** Reads the configuration again, from the same layers as at the start, or with a draft of one file. */
  readonly load: (draft?: FileDraft) => Promise<LoadedHubConfig>;
  /** Called with each configuration that was applied. */
  readonly onReloaded?: (config: LoadedHubConfig, changes: SourceChanges) => Promise<void>;
}

/**
 * Applies configurations while the hub is running, one after another. An invalid one changes nothing and is reported.
 */
export class Reloader {
  readonly #options: ReloadOptions;
  #turn: Promise<void> = Promise.resolve();
  #stopWatching: (() => Promise<void>) | undefined;
  #problem: string | undefined;

  constructor(options: ReloadOptions) {
    this.#options = options;
    getService(options.hub.services, HUB_CONTROL)().reloadWith(this);
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reloads when one of the files changes. */
  async watch(files: readonly string[]): Promise<void> {
    if (files.length === 0) return;
    this.#stopWatching = await watchFiles(files, () => void this.reload());
    // The files may have changed between the first load and the start of the watcher, so they are read again.
    void this.reload();
  }

  /**
   * Reloads the configuration. Resolves when this reload and all earlier ones have ended. Never rejects: an invalid
   * configuration is logged.
   */
  reload(): Promise<void> {
    const { hub } = this.#options;
    return this.apply().catch((error: unknown) => {
      const reason = messageOf(error);
      const event = { event: "configuration", action: "reload", kind: "invalid_params", details: { reason } } as const;
      getService(hub.services, AUDIT).record(event);
      hub.logger.error("The configuration was not applied; the previous one stays in force.", { reason });
    });
  }

  /** Reloads like `reload`, but rejects if the configuration cannot be applied. */
  apply(): Promise<void> {
    const applied = this.#turn.then(() => this.#apply());
    this.#turn = applied.then(
      () => {
        this.#problem = undefined;
      },
      (error: unknown) => {
        this.#problem = messageOf(error);
      },
    );
    return applied;
  }

  /** Applies the current configuration again, for example after a source was marked as changed. */
  reconsider(): Promise<void> {
    const done = this.#turn.then(async () => void (await this.#options.hub.reconfigure(this.#options.hub.config)));
    this.#turn = done.catch(() => {});
    return done;
  }

  async preview(draft: FileDraft): Promise<ReloadPreview> {
    const { hub, load } = this.#options;
    const config = await load(draft);
    const sources = await hub.reconfigure(config, true);
    const { previewReload } = await import("./reload-preview.ts");
    return { ...previewReload(hub, config), sources };
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
    hub.logger.info("The configuration was applied.", {
      added: changes.added,
      changed: changes.changed,
      removed: changes.removed,
    });
    getService(hub.services, AUDIT).record({
      event: "configuration",
      action: "reload",
      kind: "ok",
      details: { ...changes, sections: changedSections(before.tree, config.tree), files: config.files },
    });
    const late = sectionsAtRestart(before.tree, config.tree);
    if (late.length > 0)
      hub.logger.warning(
        `Changes of ${late.map((section) => `[${section}]`).join(", ")} take effect when the hub is restarted.`,
      );
    await onReloaded?.(config, changes);
  }
}
