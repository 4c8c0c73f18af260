// Tests of the Redis store that need control of the server: loss of the store, recovery, keys that expire.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Redis } from "ioredis";
import { HAS_REDIS, RedisServer } from "../../../../../test/support/redis-server.ts";
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

  test("refuses calls that have a limit with on_loss = refuse, and admits calls without a limit", async () => {
    const here = await join("here", "refuse");
    await server.kill();
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(await here.limits.admit("a", ONE)).toMatchObject({ admitted: false, reason: "store" });
    expect(await here.limits.admit("a", { perMinute: 0, inFlight: 0 })).toEqual({ admitted: true });
  });

  test("gets sessions, running calls and the secret back after a restart without data", async () => {
    const here = await join("here");
    here.parked.put("p");
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

  test("keeps no key without an expiry", async () => {
    const here = await join("here");
    here.parked.put("p");
    await here.limits.admit("a", { perMinute: 2, inFlight: 2 });
    await here.flush();
    const client = new Redis(server.url);
    const keys = await client.keys("*");
    const ttls = await Promise.all(keys.map((key) => client.pttl(key)));
    client.disconnect();
    expect(keys.toSorted()).toEqual(
      ["hub:{here}", "limit:{a}", "parked:{p}", "secret"].map((key) => `toolyard:${key}`),
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
