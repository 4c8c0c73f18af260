import { MEMORY } from "./memory/kind.ts";
import type { Store, StoreKinds } from "./ports/store.ts";

/**
 * Every kind of store, each run through `contract.test.ts`. The first that the configuration asks for is opened;
 * `memory` is the last, since it is opened if no other is configured.
 */
export const STORES = {
  memory: MEMORY,
} satisfies StoreKinds;

/** Opens the store that a configuration asks for. Throws an `OptionError`. */
export function openStore(config: object, kinds: StoreKinds = STORES): Store {
  for (const kind of Object.values(kinds)) {
    const store = kind.open(config);
    if (store) return store;
  }
  throw new TypeError("The last kind of store must open for every configuration.");
}
