import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { durationOption } from "../../core/text/duration.ts";

const ON_LOSS = ["local", "refuse"] as const;
const MODES = ["standalone", "sentinel", "cluster"] as const;

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
    advertise: Type.Optional(
      Type.String({
        description:
          "Base URL at which the other hubs reach this hub directly, such as `http://10.0.0.5:8808`. Requests for a " +
          "session or call of this hub are then sent there. Without it, they are sent through the store.",
        examples: ["http://10.0.0.5:8808"],
      }),
    ),
    drain_timeout: Type.Optional(
      durationOption({
        description:
          "Time that running calls get when the hub ends. It replaces `server.shutdown_grace`. Sessions without " +
          "running calls are handed over to the other hubs immediately.",
        default: "30s",
      }),
    ),
    mode: Type.Optional(
      Type.Enum(MODES, {
        description:
          "Kind of deployment. `standalone`: one server. `sentinel`: `url` and `nodes` are sentinels, which name the " +
          "server. `cluster`: `url` and `nodes` are servers of a cluster.",
        default: "standalone",
      }),
    ),
    nodes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Addresses of further sentinels, or of further servers of the cluster, as `host:port`.",
        default: [],
      }),
    ),
    master: Type.Optional(
      Type.String({
        description: "Name of the server that the sentinels watch.",
        default: "mymaster",
        minLength: 1,
      }),
    ),
    sentinel_password: Type.Optional(Type.Secret({ description: "Password of the sentinels." })),
    tls_ca: Type.Optional(
      Type.Path({
        description: "File with the certificates of the CA that issued the server's certificate, in PEM format.",
      }),
    ),
    tls_cert: Type.Optional(Type.Path({ description: "File with the client certificate of the hub, in PEM format." })),
    tls_key: Type.Optional(Type.Path({ description: "File with the key of the client certificate, in PEM format." })),
  },
  {
    description:
      "State that several hubs share: limits, sessions with their events, and which hub holds a call that waits for " +
      "input.",
  },
);

export type RedisStoreConfig = Static<typeof RedisStoreSchema>;

export interface RedisStoreOptions {
  readonly url: string;
  readonly prefix: string;
  readonly onLoss: (typeof ON_LOSS)[number];
  /** Base URL of this hub for other hubs, without a trailing slash. */
  readonly advertise?: string;
  readonly drainMs: number;
  readonly mode: (typeof MODES)[number];
  readonly nodes: readonly string[];
  readonly master: string;
  readonly sentinelPassword?: string;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

type ResolvedStoreConfig = Pick<RedisStoreConfig, "url" | "advertise" | "tls_cert" | "tls_key"> &
  Pick<RedisStoreOptions, "mode" | "nodes">;

/** Returns the resolved options. Throws an `OptionError` if they do not fit together. */
export function resolveRedisStore(raw: RedisStoreConfig): RedisStoreOptions {
  const options = readOptions(RedisStoreSchema, raw, "store.");
  assertUsable(options);
  const { advertise, sentinel_password: sentinelPassword, tls_ca: tlsCa, tls_cert: tlsCert, tls_key: tlsKey } = options;
  return Object.freeze({
    url: options.url,
    prefix: options.prefix,
    onLoss: options.on_loss,
    drainMs: options.drain_timeout,
    mode: options.mode,
    nodes: options.nodes,
    master: options.master,
    ...(advertise !== undefined && { advertise: advertise.replace(/\/$/, "") }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tlsCa !== undefined && { tlsCa }),
    ...(tlsCert !== undefined && { tlsCert }),
    ...(tlsKey !== undefined && { tlsKey }),
  });
}

function assertUsable(options: ResolvedStoreConfig): void {
  const { url, mode, nodes, advertise, tls_cert: cert, tls_key: key } = options;
  if (!/^rediss?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new OptionError("`store.url` must start with `redis://` or `rediss://` and name a host.");
  assertNodes(nodes, mode);
  if (mode === "cluster" && !/^\/?0?$/.test(new URL(url).pathname))
    throw new OptionError('`store.url` must not name a database with `mode = "cluster"`: a cluster has only number 0.');
  if (advertise !== undefined && !/^https?:\/\/[^/]/.test(advertise))
    throw new OptionError(
      `\`store.advertise\` must start with \`http://\` or \`https://\` and name a host, got \`${advertise}\`.`,
    );
  if ((cert === undefined) !== (key === undefined))
    throw new OptionError("`store.tls_cert` and `store.tls_key` belong together: set both or none.");
}

function assertNodes(nodes: readonly string[], mode: RedisStoreOptions["mode"]): void {
  if (mode === "standalone" && nodes.length > 0)
    throw new OptionError(
      '`store.nodes` needs `store.mode = "sentinel"` or `"cluster"`: a single server has one address.',
    );
  const faulty = nodes.find((node) => !/^[^\s/@]+$/.test(node) || !URL.canParse(`redis://${node}`));
  if (faulty !== undefined) throw new OptionError(`\`store.nodes\` must contain \`host:port\`, got \`${faulty}\`.`);
}
