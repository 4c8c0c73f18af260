import { MemoryStore } from "./memory/memory-store.ts";
import type { Store } from "./ports/store.ts";

/** Every store there is, each run through `contract.test.ts`. A hub that is given none opens `memory`. */
export const STORES = {
  memory: () => new MemoryStore(),
} satisfies Readonly<Record<string, () => Store>>;
