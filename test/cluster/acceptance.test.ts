// Three hubs, Redis and HAProxy under load, while hubs are killed and restarted in turn and Redis is restarted once.
// `CLUSTER_SECONDS` sets the duration, and `CLUSTER_STORE` another program for the store, or `cluster` for a Redis
// Cluster of three servers, of which one is restarted.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { HAS_HAPROXY, HaProxy } from "./haproxy.ts";
import { Cluster, type HubProcess } from "./hub-process.ts";
import { runLoad } from "./load.ts";
import { RedisCluster } from "./redis-deployments.ts";

const SECONDS = Number(process.env["CLUSTER_SECONDS"] ?? "60");
/** Program of the store, such as a build of Valkey, or `cluster`. @default `redis-server` */
const STORE = process.env["CLUSTER_STORE"];
/** Arguments with which a server keeps its data while it restarts. */
const KEEPS_DATA = ["--appendonly", "yes", "--appendfsync", "always"];
/** Time between two disturbances. */
const PAUSE_MS = 3000;

interface StoreInLoad extends AsyncDisposable {
  /** Members of `[store]`. */
  readonly options: JsonObject;
  /** Server that is restarted. */
  readonly server: RedisServer;
}

async function startStore(): Promise<StoreInLoad> {
  if (STORE === "cluster") {
    const cluster = await RedisCluster.start(KEEPS_DATA);
    const close = (): Promise<void> => cluster[Symbol.asyncDispose]();
    return { options: { ...cluster.store }, server: cluster.servers[1]!, [Symbol.asyncDispose]: close };
  }
  const server = await RedisServer.start({ args: KEEPS_DATA, ...(STORE !== undefined && { program: STORE }) });
  return { options: { url: server.url }, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Kills and restarts the hubs in turn, every third time with SIGTERM, and restarts the store once. */
async function disturb(hubs: readonly HubProcess[], redis: RedisServer, until: number): Promise<readonly string[]> {
  const events: string[] = [];
  for (let at = 0; performance.now() < until; at += 1) {
    await delay(PAUSE_MS);
    if (at === 2) {
      events.push("restart of the store");
      await redis.kill("SIGTERM");
      await redis.resume();
      continue;
    }
    const hub = hubs[at % hubs.length]!;
    const signal = at % 3 === 1 ? "SIGTERM" : "SIGKILL";
    events.push(`${signal} to hub ${at % hubs.length}`);
    await hub.stop(signal);
    await hub.start();
  }
  return events;
}

test(
  "no session is lost and no answer is wrong, duplicated or late while hubs and the store restart",
  { timeout: SECONDS * 1000 + 120_000 },
  async ({ skip }) => {
    skip(!HAS_REDIS, "Redis is not on this machine");
    skip(!HAS_HAPROXY, "HAProxy is not on this machine");
    await using store = await startStore();
    await using cluster = await Cluster.start({ hubs: 3, store: store.options });
    await using balancer = await HaProxy.start(
      cluster.folder,
      cluster.hubs.map(({ port }) => port),
    );
    const until = performance.now() + (SECONDS - 5) * 1000;
    const [report, events] = await Promise.all([
      runLoad({ url: balancer.url, sessions: 8, modernCallers: 4, seconds: SECONDS }),
      disturb(cluster.hubs, store.server, until),
    ]);
    const counts = await cluster.counts();
    const { once, atMostOnce, ...figures } = report;
    console.log(JSON.stringify({ ...figures, events: events.length, once: once.length }));
    expect(figures).toMatchObject({ lostSessions: [], wrong: [], duplicated: [], late: [] });
    expect(once.filter((key) => counts.get(key) !== 1)).toEqual([]);
    expect(atMostOnce.filter((key) => (counts.get(key) ?? 0) > 1)).toEqual([]);
    expect(once.length).toBeGreaterThan(SECONDS);
  },
);
