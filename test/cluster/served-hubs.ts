// Three hubs behind HAProxy, served as one hub for tests that compare what a client receives.
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import type { ServedHub } from "../fixtures/served-hub.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_HAPROXY, HaProxy } from "./haproxy.ts";
import { Cluster } from "./hub-process.ts";

/** True if the programs for `serveHubs` are installed. */
export const HAS_BALANCER = HAS_REDIS && HAS_HAPROXY;

/** Serves three hubs with one store. The balancer sends each request to another hub. */
export async function serveHubs(settings: HubConfig): Promise<ServedHub> {
  const redis = await RedisServer.start();
  // Lists wait for the sources, so that a comparison does not depend on load.
  const config = { modules: { paths: [] }, catalog: { cold_wait: "30s" }, ...settings } as JsonObject;
  const cluster = await Cluster.start({ hubs: 3, store: { url: redis.url }, config });
  const balancer = await HaProxy.start(
    cluster.folder,
    cluster.hubs.map(({ port }) => port),
  );
  const clients: RawClient[] = [];
  const url = `${balancer.url}/mcp`;
  return {
    url,
    connect: async (options) => {
      clients.push(await RawClient.open(new HttpWire(url, options.era), options));
      return clients.at(-1)!;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client.close();
      await balancer[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}
