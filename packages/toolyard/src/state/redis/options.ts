import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

const ON_LOSS = ["local", "refuse"] as const;

/** Schema of `[store]`: the store that several hubs share. */
export const RedisStoreSchema = Type.Object(
  {
    url: Type.Secret({
      description:
        "Address of Redis (6.2 or later) or Valkey, with user and password if needed: " +
        "`redis://user:password@host:6379/0`, `rediss://…` with TLS. All hubs with the same store and prefix " +
        "share their state. Needs the extra `redis`.",
    }),
    prefix: Type.Optional(
      Type.String({
        description: "Start of the name of every key in the store. Hubs with different prefixes share nothing.",
        default: "toolyard:",
        minLength: 1,
      }),
    ),
    on_loss: Type.Optional(
      Type.Enum(ON_LOSS, {
        description:
          "What a hub does with calls while the store cannot be reached. `local`: each hub applies the limits to its " +
          "own calls. `refuse`: calls with a limit are refused.",
        default: "local",
      }),
    ),
  },
  { description: "State that several hubs share: limits, sessions, and which hub holds a call that waits for input." },
);

export type RedisStoreConfig = Static<typeof RedisStoreSchema>;

export interface RedisStoreOptions {
  readonly url: string;
  readonly prefix: string;
  readonly onLoss: (typeof ON_LOSS)[number];
}

/** Returns the resolved options. Throws an `OptionError` if the URL is not one of Redis. */
export function resolveRedisStore(raw: RedisStoreConfig): RedisStoreOptions {
  const { url, prefix, on_loss: onLoss } = readOptions(RedisStoreSchema, raw, "store.");
  if (!/^rediss?:\/\/[^/]/.test(url))
    throw new OptionError("`store.url` must start with `redis://` or `rediss://` and name a host.");
  return Object.freeze({ url, prefix, onLoss });
}
