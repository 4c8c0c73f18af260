import { Type, type Static } from "../../core/options/option-schema.ts";
import type { StoreKind } from "../ports/store.ts";
import { RedisStoreSchema, resolveRedisStore } from "./options.ts";

const SCHEMA = { store: Type.Optional(RedisStoreSchema) };
export type RedisSections = typeof SCHEMA;

/** Store in Redis or Valkey. Its code is loaded when the first hub joins. */
export const REDIS: StoreKind & { readonly schema: typeof SCHEMA } = {
  schema: SCHEMA,
  open: (config, services) => {
    const { store } = config as { readonly store?: Static<typeof RedisStoreSchema> };
    if (store === undefined) return undefined;
    const options = resolveRedisStore(store);
    return {
      join: async (hub) => (await import("./redis-store.ts")).joinRedisStore(options, { hub, ...services }),
    };
  },
};
