import { join } from "node:path";
import { loadConfig, type LoadOptions } from "../config/load.ts";
import { dataFolder } from "../core/data-folder.ts";
import { nextHubId } from "../core/hub-id.ts";
import { useTransformCache } from "../runtimes/typescript/cache-folder.ts";
import { prepareFeatures } from "../kernel/start-features.ts";
import type { HubState } from "../state/ports/store.ts";
import { openStore } from "../state/stores.ts";
import { FEATURES } from "./features.ts";
import { Hub } from "./hub.ts";
import type { HubOptions, OpenHubOptions } from "./open-hub-options.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "./schema.ts";

export type { Hub } from "./hub.ts";
export type { HubOptions } from "./open-hub-options.ts";
export type { SourceFilter } from "./sources/plan.ts";

/** Loads the layers of the configuration and checks them against the schema of every feature. */
export function loadHubConfig(options: Omit<LoadOptions, "schema">): Promise<LoadedHubConfig> {
  return loadConfig({ ...options, schema: CONFIG_SCHEMA });
}

/** Creates a hub and starts its sources in the background. Rejects with an `OptionError` if an option is invalid. */
export function openHub(options: HubOptions): Promise<Hub> {
  return openHubWith({ ...options, features: FEATURES });
}

/** Creates a hub with the given features. The list must have passed `featureList`. */
export async function openHubWith(options: OpenHubOptions): Promise<Hub> {
  const { config, variables, logger } = options;
  const importRedis = async (): Promise<unknown> =>
    (await import("../extras/import-extra.ts")).importExtra("redis", "ioredis", { purpose: "`[store]`" });
  const store = options.store ?? openStore(config.tree, { importRedis, variables, logger });
  await prepareFeatures(options.features, config.tree, variables);
  useTransformCache(join(dataFolder(variables), "typescript"));
  const state = await store.join(nextHubId());
  let announce = (_tree: object): void => {};
  const hub = new Hub({ ...options, onConfigured: ({ tree }) => announce(tree) }, state);
  try {
    if (state.peers) announce = await connectPeers(hub, state);
    await hub.reconfigure(config);
    return hub;
  } catch (error) {
    await hub.close();
    throw error;
  }
}

/** Exchanges events with the other hubs of the store. Returns a function that announces this hub's configuration. */
async function connectPeers(hub: Hub, state: HubState): Promise<(tree: object) => void> {
  const { PeerEvents } = await import("./peer-events.ts");
  const peers = new PeerEvents({ state, events: hub.port.events, logger: hub.logger });
  return (tree) => peers.configured(tree);
}
