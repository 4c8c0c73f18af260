// Answers of a megabyte that one hub passes on for another. Either hub may have workers, which read and write for it.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { inTurn, LegacyClient, textOf } from "./clients.ts";
import { Cluster } from "./hub-process.ts";

interface Place {
  readonly isReachable: boolean;
  /** `server.workers` of each hub. */
  readonly workers: readonly number[];
}

const PLACES: readonly [how: string, place: Place][] = [
  ["over the network between a hub with workers and one without", { isReachable: true, workers: [2, 1] }],
  ["over the network between hubs with workers", { isReachable: true, workers: [2, 2] }],
  ["through the store between hubs with workers", { isReachable: false, workers: [2, 2] }],
  ["through the store between a hub with workers and one without", { isReachable: false, workers: [2, 1] }],
];
/** A stream of 1 MiB is cut at this size if the hub that reads it does not report what its caller has read. */
const LIMITS = { max_stream_backlog_bytes: 917_504 };

describe("large answers", () => {
  test.for(PLACES)("two hubs pass large results and streams %s", async ([, { isReachable, workers }], { skip }) => {
    skip(!HAS_REDIS, "Redis is not on this machine");
    await using redis = await RedisServer.start();
    await using cluster = await Cluster.start({
      hubs: 2,
      isReachable,
      store: { url: redis.url },
      configOf: (at) => ({ server: { ...LIMITS, workers: workers[at]! } }),
    });
    const urls = cluster.hubs.map(({ url }) => url);
    // Each hub holds one session, and answers its calls that arrive at the other hub.
    for (const [at, url] of urls.entries()) {
      const other = urls[1 - at]!;
      const client = LegacyClient.continue(await LegacyClient.open(() => url), inTurn([other]));
      expect(textOf((await client.call("large", { key: "0123456789" })).at(-1))).toBe("0123456789".repeat(100_000));
      const messages = await client.call("stream", { key: "abcdefgh" }, { progressToken: "t" });
      const steps = messages.slice(0, -1).map(({ params }) => (params as JsonObject)["progress"]);
      expect(steps).toEqual(Array.from({ length: 64 }, (_, step) => step + 1));
      expect(textOf(messages.at(-1))).toBe("streamed abcdefgh");
    }
  });
});
