import type { StoreKind } from "../ports/store.ts";
import { MemoryStore } from "./memory-store.ts";

/** Store in the memory of this process. It is used if the configuration names no other store. */
export const MEMORY: StoreKind = { open: () => new MemoryStore() };
