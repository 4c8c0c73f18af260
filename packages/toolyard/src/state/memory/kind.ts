import type { StoreKind } from "../ports/store.ts";
import { MemoryStore } from "./memory-store.ts";

/** In the memory of this process; any configuration that names no other store means this one. */
export const MEMORY: StoreKind = { open: () => new MemoryStore() };
