// Sign-ins to servers at hubs on different machines (different data folders) that share a store.
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { keyOf } from "../../packages/toolyard/src/signin/context.ts";
import { sharedSignIns } from "../../packages/toolyard/src/signin/store-vault.ts";
import type { HubState } from "../../packages/toolyard/src/state/ports/store.ts";
import { REDIS } from "../../packages/toolyard/src/state/redis/kind.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { echo, Home, says } from "./harness.ts";

const KEY = randomBytes(32);
const HOUR_MS = 3_600_000;

let redis: RedisServer;
let prefixes = 0;
const joined: HubState[] = [];

beforeAll(async () => {
  if (HAS_REDIS) redis = await RedisServer.start({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
});

beforeEach(({ skip }) => {
  skip(!HAS_REDIS, "Redis is not on this machine");
  prefixes += 1;
});

afterEach(async () => {
  for (const state of joined.splice(0)) await state.leave();
});

afterAll(() => redis?.[Symbol.asyncDispose]());

/** Opens a hub with its own data folder. */
async function openHome(): Promise<Home> {
  const store = { url: redis.url, prefix: `vault-${prefixes}:` };
  const state = await REDIS.open({ store }, { importRedis: () => import("ioredis") })!.join(`hub-${joined.length}`);
  joined.push(state);
  return new Home(sharedSignIns(await state.openVault!(KEY)));
}

const renewals = (auth: AuthServer): number =>
  auth.asked.filter(({ form }) => form.get("grant_type") === "refresh_token").length;

/** Moves the time of the stored tokens into the past. */
async function age(home: Home, url: string): Promise<void> {
  const context = home.context({ url });
  await context.vault.update(keyOf(context), (record) => {
    const { tokens, ...rest } = record!;
    return { ...rest, tokens: { ...tokens!, obtainedAt: tokens!.obtainedAt - 2 * HOUR_MS } };
  });
}

test("a sign-in at one hub is used by the other hubs", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using first = await openHome();
  await using second = await openHome();
  await first.login({ url: server.url });
  const provider = second.open({ url: server.url });
  expect(await echo(provider, "there")).toMatchObject(says("there"));
  expect(auth.authorized).toHaveLength(1);
});

test("three hubs renew an expired token once, and all of them use the new one", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using first = await openHome();
  await using second = await openHome();
  await using third = await openHome();
  await first.login({ url: server.url });
  await age(first, server.url);
  auth.expire();
  const providers = [first, second, third].map((home) => home.open({ url: server.url }));
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, at) => echo(providers[at % providers.length]!, `n${at}`)),
  );
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  expect(renewals(auth)).toBe(1);
});

test("a hub without its store serves calls with the token that it has", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using first = await openHome();
  await first.login({ url: server.url });
  const provider = first.open({ url: server.url });
  expect(await echo(provider, "before")).toMatchObject(says("before"));
  await redis.kill();
  expect(await echo(provider, "during")).toMatchObject(says("during"));
  await redis.resume();
  await using second = await openHome();
  expect(await echo(second.open({ url: server.url }), "after")).toMatchObject(says("after"));
  expect(auth.authorized).toHaveLength(1);
});

test("a token that is renewed while the store is lost is stored when the store is back", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using first = await openHome();
  await first.login({ url: server.url });
  await age(first, server.url);
  auth.expire();
  auth.switches.before = async () => {
    auth.switches.before = () => Promise.resolve();
    await redis.kill();
    setTimeout(() => void redis.resume(), 300);
  };
  expect(await echo(first.open({ url: server.url }), "renewed")).toMatchObject(says("renewed"));
  await using second = await openHome();
  expect(await echo(second.open({ url: server.url }), "other")).toMatchObject(says("other"));
  expect(renewals(auth)).toBe(1);
}, 40_000);
