import type { SharedQueues } from "../ports/shared-queues.ts";
import type { RedisClient } from "./client.ts";
import type { RedisConnection } from "./connection.ts";
import type { HubLeases } from "./leases.ts";
import { takeLease } from "./store-lease.ts";

interface SharedQueuesParts {
  readonly hub: string;
  readonly prefix: string;
  readonly connection: RedisConnection;
  readonly leases: HubLeases;
  /** Client that provides the address and credentials of further connections. */
  readonly client: RedisClient;
}

/** Options of a connection that waits for the store, as BullMQ requires. */
const WAITING = {
  lazyConnect: false,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
} as const;

/** Members of an ioredis client that are needed to copy it. */
interface DuplicableClient {
  readonly isCluster?: boolean;
  readonly options: { readonly redisOptions?: object };
  duplicate(options: object): unknown;
  duplicate(nodes: readonly never[], options: object): unknown;
}

export function createSharedQueues({ hub, prefix, connection, leases, client }: SharedQueuesParts): SharedQueues {
  /** Logs the reason of a refusal, because the features answer that the store cannot be used. */
  const report = async <T>(reply: Promise<T>): Promise<T> => {
    try {
      return await reply;
    } catch (error) {
      connection.refused(error, "The shared store refused a command.");
      throw error;
    }
  };
  return {
    hub,
    prefix,
    get isLost() {
      return connection.isLost;
    },
    isAlive: async (id) => (await leases.find(id)) !== undefined,
    command: (name, ...parts) => report(connection.command(name, ...parts)),
    run: (script, key, ...parts) => report(connection.run(script, key, ...parts)),
    takeLease: (key, lifeMs) => report(takeLease(connection, { key, lifeMs })),
    connect: () => duplicate(client as unknown as DuplicableClient),
    onRestored: (listener) => connection.restored.on(listener),
  };
}

function duplicate(client: DuplicableClient): unknown {
  if (client.isCluster !== true) return client.duplicate(WAITING);
  const redisOptions = { ...client.options.redisOptions, ...WAITING };
  return client.duplicate([], { lazyConnect: false, enableOfflineQueue: true, redisOptions });
}
