// Three hubs, Redis and HAProxy under load, while hubs are killed and restarted in turn and Redis is restarted once.
// `CLUSTER_SECONDS` sets the duration, and `CLUSTER_STORE` another program for the store.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { HAS_HAPROXY, HaProxy } from "./haproxy.ts";
import { Cluster, type HubProcess } from "./hub-process.ts";
import { runLoad } from "./load.ts";

const SECONDS = Number(process.env["CLUSTER_SECONDS"] ?? "60");
/** Program of the store, such as a build of Valkey. @default `redis-server` */
const PROGRAM = process.env["CLUSTER_STORE"];
/** Time between two disturbances. */
const PAUSE_MS = 3000;

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
    const args = ["--appendonly", "yes", "--appendfsync", "always"];
    await using redis = await RedisServer.start({ args, ...(PROGRAM !== undefined && { program: PROGRAM }) });
    await using cluster = await Cluster.start({ hubs: 3, store: { url: redis.url } });
    await using balancer = await HaProxy.start(
      cluster.folder,
      cluster.hubs.map(({ port }) => port),
    );
    const until = performance.now() + (SECONDS - 5) * 1000;
    const [report, events] = await Promise.all([
      runLoad({ url: balancer.url, sessions: 8, modernCallers: 4, seconds: SECONDS }),
      disturb(cluster.hubs, redis, until),
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
