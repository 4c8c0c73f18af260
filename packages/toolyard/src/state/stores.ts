import { MEMORY } from "./memory/kind.ts";
import { REDIS, type RedisSections } from "./redis/kind.ts";
import type { Store, StoreKinds, StoreServices } from "./ports/store.ts";

/**
 * All kinds of stores, each tested by `contract.test.ts`. The first one that the configuration requests is opened.
 * `memory` must be the last, because it is opened if no other is configured.
 */
export const STORES = {
  redis: REDIS,
  memory: MEMORY,
} satisfies StoreKinds;

/** Sections of the configuration that stores read. */
export type StoreSections = RedisSections;

/** Opens the store that a configuration requests. Throws an `OptionError`. */
export function openStore(config: object, services: StoreServices, kinds: StoreKinds = STORES): Store {
  for (const kind of Object.values(kinds)) {
    const store = kind.open(config, services);
    if (store) return store;
  }
  throw new TypeError("The last kind of store must open for every configuration.");
}
