// Tests of the Redis store that need control of the server: loss of the store, recovery, keys that expire.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Redis } from "ioredis";
import { HAS_REDIS, RedisServer } from "../../../../../test/support/redis-server.ts";
import { processActivity } from "../../core/process-activity.ts";
import type { HubState } from "../ports/store.ts";
import { REDIS } from "./kind.ts";

const ONE = { perMinute: 0, inFlight: 1 };

describe("a Redis server that stops", () => {
  let server: RedisServer;
  const lines: string[] = [];
  const joined: HubState[] = [];

  const join = async (hub: string, onLoss: "local" | "refuse" = "local"): Promise<HubState> => {
    const log = (message: string): void => void lines.push(message);
    const services = { importRedis: () => import("ioredis"), logger: { info: log, warning: log } };
    const state = await REDIS.open({ store: { url: server.url, on_loss: onLoss } }, services)!.join(hub);
    joined.push(state);
    return state;
  };

  beforeEach(async ({ skip }) => {
    skip(!HAS_REDIS, "Redis is not on this machine");
    server = await RedisServer.start();
  });

  afterEach(async () => {
    for (const state of joined.splice(0)) await state.leave();
    await server[Symbol.asyncDispose]();
    lines.length = 0;
  });

  test("limits calls by hub with on_loss = local, and logs the loss once", async () => {
    const [here, there] = [await join("here"), await join("there")];
    await server.kill();
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    expect(await here.limits.admit("a", ONE)).toEqual({ admitted: true });
    expect(await here.limits.admit("a", ONE)).toMatchObject({ reason: "in-flight" });
    expect(await there.limits.admit("a", ONE)).toEqual({ admitted: true });
    here.limits.leave("a");
    expect(await here.limits.admit("a", ONE)).toEqual({ admitted: true });
    expect(lines.every((line) => line.startsWith("The shared store cannot be reached."))).toBe(true);
  });

  test("counts its commands, their time and the failed ones, for the metrics", async () => {
    const here = await join("here");
    const before = { ...processActivity };
    await here.limits.admit("a", ONE);
    expect(processActivity.storeCommands).toBeGreaterThan(before.storeCommands);
    expect(processActivity.storeMs).toBeGreaterThan(before.storeMs);
    expect(processActivity.storeFailures).toBe(before.storeFailures);
    const admin = new Redis(server.url);
    await admin.call("ACL", "SETUSER", "default", "-eval", "-evalsha");
    admin.disconnect();
    await Promise.resolve(here.limits.admit("b", ONE)).catch(() => {});
    expect(processActivity.storeFailures).toBeGreaterThan(before.storeFailures);
  });

  test("refuses calls that have a limit with on_loss = refuse, and admits calls without a limit", async () => {
    const here = await join("here", "refuse");
    await server.kill();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(await here.limits.admit("a", ONE)).toMatchObject({ admitted: false, reason: "store" });
    expect(await here.limits.admit("a", { perMinute: 0, inFlight: 0 })).toEqual({ admitted: true });
  });

  test("gets sessions, running calls and the secret back after a restart without data", async () => {
    const here = await join("here");
    void here.parked.put("p");
    await here.limits.admit("a", ONE);
    await server.kill();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await server.resume();
    await vi.waitFor(() => expect(lines).toHaveLength(2), { timeout: 5000 });
    await here.flush();
    const there = await join("there");
    expect(there.secret).toEqual(here.secret);
    expect(await there.parked.find("p")).toEqual({ hub: "here", isAlive: true });
    expect(await there.limits.admit("a", ONE)).toMatchObject({ reason: "in-flight" });
  });

  test("accepts a one-time id on one hub only, and decides by `on_loss` while the store is lost", async () => {
    const [here, there] = [await join("here"), await join("there", "refuse")];
    expect(await here.oneTimeIds!.claim("a", 60_000)).toBe(true);
    for (const hub of [there, here]) expect(await hub.oneTimeIds!.claim("a", 60_000)).toBe(false);
    const answers = await Promise.all([here, there, here].map((hub) => hub.oneTimeIds!.claim("b", 60_000)));
    expect(answers.filter(Boolean)).toHaveLength(1);
    await server.kill();
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    expect(await here.oneTimeIds!.claim("c", 60_000)).toBe(true);
    await expect(there.oneTimeIds!.claim("c", 60_000)).rejects.toThrow();
  });

  test.each(["local", "refuse"] as const)(
    "logs once that the store refuses to count, with on_loss = %s",
    async (onLoss) => {
      const here = await join("here", onLoss);
      const client = new Redis(server.url);
      await client.config("SET", "maxmemory", "1");
      client.disconnect();
      for (const key of ["a", "b", "c"])
        expect((await here.limits.admit(key, ONE)).admitted, key).toBe(onLoss === "local");
      expect(lines).toEqual([expect.stringContaining("refused to count")]);
    },
  );

  test("keeps no key without an expiry", async () => {
    const here = await join("here");
    void here.parked.put("p");
    await here.limits.admit("a", { perMinute: 2, inFlight: 2 });
    await here.flush();
    const client = new Redis(server.url);
    const keys = await client.keys("*");
    const ttls = await Promise.all(keys.map((key) => client.pttl(key)));
    client.disconnect();
    expect(keys.toSorted()).toEqual(
      ["hub:{here}", "limit:{a}", "parked:{p}", "secret", "secret:key"].map((key) => `toolyard:${key}`),
    );
    expect(ttls.every((ttl) => ttl > 0)).toBe(true);
  });

  test("reports the loss to the logger that the hub sets after it has joined", async () => {
    const late: string[] = [];
    const here = await join("here");
    here.reportTo!({ info: () => {}, warning: (message) => void late.push(message) });
    await server.kill();
    await vi.waitFor(() => expect(late).toHaveLength(1));
    expect(lines).toEqual([]);
  });

  test("rejects a hub that cannot reach the store at its start", async () => {
    await server.kill();
    await expect(join("here")).rejects.toThrow();
  });
});

test.each(["http://127.0.0.1", "redis://", "127.0.0.1:6379"])("refuses the address %s and names the option", (url) => {
  const services = { importRedis: () => import("ioredis") };
  expect(() => REDIS.open({ store: { url } }, services)).toThrow(/store\.url/);
});

describe("reservations of a large limit", () => {
  const LARGE = { perMinute: 6400, inFlight: 640 };
  let server: RedisServer;
  const joined: HubState[] = [];

  const join = async (hub: string): Promise<HubState> => {
    const services = { importRedis: () => import("ioredis") };
    const state = await REDIS.open({ store: { url: server.url } }, services)!.join(hub);
    joined.push(state);
    return state;
  };

  beforeEach(async ({ skip }) => {
    skip(!HAS_REDIS, "Redis is not on this machine");
    server = await RedisServer.start();
  });

  afterEach(async () => {
    for (const state of joined.splice(0)) await state.leave();
    await server[Symbol.asyncDispose]();
  });

  test("calls within a reservation do not wait for the store", async () => {
    const here = await join("here");
    await here.limits.admit("a", LARGE);
    const next = Array.from({ length: 9 }, () => here.limits.admit("a", LARGE));
    expect(next).toEqual(Array.from({ length: 9 }, () => ({ admitted: true })));
    expect(here.limits.admit("a", LARGE)).toBeInstanceOf(Promise);
  });

  test("calls of a connection never wait for the store", async () => {
    const here = await join("here");
    const one = { perMinute: 0, inFlight: 1, isOwn: true };
    expect(here.limits.admit("c", one)).toEqual({ admitted: true });
    expect(here.limits.admit("c", one)).toMatchObject({ reason: "in-flight" });
    here.limits.leave("c");
    expect(here.limits.admit("c", one)).toEqual({ admitted: true });
  });

  test("two hubs together never run more calls than the limit, in any order", async () => {
    const hubs = [await join("here"), await join("there")];
    const running = [0, 0];
    let seed = 20_261_127;
    for (let step = 0; step < 3000; step += 1) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      const at = seed % 2;
      const hub = hubs[at]!;
      if (seed % 7 < 5) {
        if ((await hub.limits.admit("a", { perMinute: 0, inFlight: 640 })).admitted) running[at]! += 1;
      } else if (running[at]! > 0) {
        hub.limits.leave("a");
        running[at]! -= 1;
      }
      if (seed % 50 === 0) hub.renew();
      expect(running[0]! + running[1]!).toBeLessThanOrEqual(640);
    }
    expect(running[0]! + running[1]!).toBeGreaterThan(600);
  });

  test("a hub releases unused reservations, so that another hub gets the whole limit", async () => {
    const [here, there] = [await join("here"), await join("there")];
    const bounds = { perMinute: 0, inFlight: 128 };
    for (let at = 0; at < 128; at += 1) await here.limits.admit("a", bounds);
    expect(await there.limits.admit("a", bounds)).toMatchObject({ reason: "in-flight" });
    for (let at = 0; at < 128; at += 1) here.limits.leave("a");
    here.renew();
    await here.flush();
    const admitted = [];
    for (let at = 0; at < 128; at += 1) admitted.push((await there.limits.admit("a", bounds)).admitted);
    expect(admitted.filter(Boolean).length).toBeGreaterThanOrEqual(126);
  });
});
