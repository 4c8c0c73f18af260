import { OptionError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ConfigReloader, HubControl } from "../core/ports/hub-control.ts";
import { configSchema } from "../kernel/feature-sections.ts";
import type { AnyFeature } from "../kernel/feature.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { SourceSet } from "./sources/source-set.ts";

/** Parts of a hub that its administrators use. */
export interface ControlledHub {
  readonly config: LoadedHubConfig;
  readonly features: readonly AnyFeature[];
  readonly sources: SourceSet;
  reconfigure(config: LoadedHubConfig): Promise<unknown>;
}

/** Creates the interface of a hub for administrators. */
export function controlOf(hub: ControlledHub): HubControl {
  let reloader: ConfigReloader | undefined;
  return {
    get files() {
      return hub.config.files;
    },
    get tree() {
      // The tree is a checked JSON object. Its type only lists the known sections.
      return hub.config.tree as JsonObject;
    },
    get origins() {
      return hub.config.origins;
    },
    get schema() {
      return configSchema(hub.features);
    },
    get secrets() {
      return hub.config.secrets;
    },
    get providers() {
      return hub.sources.providers;
    },
    get problem() {
      return reloader?.problem;
    },
    refresh: (id, signal) => hub.sources.refresh(id, signal),
    restart: async (id) => {
      if (!hub.sources.markChanged(id)) return false;
      // With a reloader, changes of the configuration are applied one after another.
      await (reloader ? reloader.reconsider() : hub.reconfigure(hub.config));
      return true;
    },
    reloadWith: (given) => {
      reloader = given;
    },
    reload: () => reloader?.apply() ?? Promise.reject(withoutReloader()),
    preview: (draft) => reloader?.preview(draft) ?? Promise.reject(withoutReloader()),
  };
}

function withoutReloader(): OptionError {
  const advice = "Start the hub with `toolyard serve`, or start it again after a change of its files.";
  return new OptionError(`This hub was started by a program that reads no files. ${advice}`);
}
