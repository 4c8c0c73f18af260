import { Type } from "../../../packages/toolyard/src/core/options/option-schema.ts";
import { MemoryStore } from "../../../packages/toolyard/src/state/memory/memory-store.ts";
import type { Store, StoreKind } from "../../../packages/toolyard/src/state/ports/store.ts";

const SCHEME = "shared:";
const OPEN = new Map<string, Store>();

/** Hubs with the same `[store] url` share their state. */
export const SHARED_STORE: StoreKind = {
  schema: { store: Type.Optional(Type.Object({ url: Type.String() })) },
  open: (config) => {
    const url = (config as { readonly store?: { readonly url: string } }).store?.url;
    if (url === undefined || !url.startsWith(SCHEME)) return undefined;
    const store = OPEN.get(url) ?? new MemoryStore();
    OPEN.set(url, store);
    return store;
  },
};
