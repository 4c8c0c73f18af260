// Secrets of hubs with and without the key of the hubs, in a real Redis server.
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HAS_REDIS, RedisServer } from "../../../../../test/support/redis-server.ts";
import type { HubState } from "../ports/store.ts";
import { REDIS } from "./kind.ts";

const KEY = randomBytes(32).toString("base64");
const OTHER_KEY = randomBytes(32).toString("base64");

let server: RedisServer;
let lines: string[];
const joined: HubState[] = [];

async function join(key?: string): Promise<HubState> {
  const log = (message: string): void => void lines.push(message);
  const services = {
    importRedis: () => import("ioredis"),
    variables: { TOOLYARD_VAULT_KEY: key },
    logger: { info: log, warning: log },
  };
  const state = await REDIS.open({ store: { url: server.url } }, services)!.join(`hub-${joined.length}`);
  joined.push(state);
  return state;
}

/** Runs a command as another user of the store. */
async function ask(...[name, ...parts]: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(server.url);
  try {
    return await client.call(name, ...parts);
  } finally {
    client.disconnect();
  }
}

const hexOf = ({ secret }: HubState): string => Buffer.from(secret).toString("hex");

beforeEach(async ({ skip }) => {
  skip(!HAS_REDIS, "Redis is not on this machine");
  lines = [];
  server = await RedisServer.start();
});

afterEach(async () => {
  for (const state of joined.splice(0)) await state.leave();
  await server?.[Symbol.asyncDispose]();
});

test("hubs with the same key have a secret that is not in the store", async () => {
  const secrets = [hexOf(await join(KEY)), hexOf(await join(` ${KEY}\n`))];
  expect(secrets[0]).toBe(secrets[1]);
  const stored = (await Promise.all(
    ((await ask("KEYS", "*")) as string[]).map((name) => ask("GET", name)),
  )) as string[];
  expect(stored.length).toBeGreaterThan(2);
  for (const text of stored) expect(text).not.toContain(secrets[0]);
  expect(lines).toEqual([]);
});

test("hubs without a key have the secret that is in the store", async () => {
  const secrets = [hexOf(await join()), hexOf(await join(""))];
  expect(secrets).toEqual([await ask("GET", "toolyard:secret"), await ask("GET", "toolyard:secret")]);
  expect(lines).toEqual([]);
});

test.each([
  ["another key", KEY, OTHER_KEY],
  ["no key", KEY, undefined],
  ["a key that the others lack", undefined, KEY],
])("a hub with %s has another secret and reports it once", async (_, first, second) => {
  const [here, there] = [await join(first), await join(second)];
  expect(hexOf(there)).not.toBe(hexOf(here));
  there.renew();
  await there.flush();
  expect(lines).toEqual([expect.stringMatching(/^TOOLYARD_VAULT_KEY of this hub is not that of the other hubs/)]);
});

test("a key that is replaced at all hubs is not reported", async () => {
  const former = await join(KEY);
  const ttl = Number(await ask("PTTL", "toolyard:secret:key"));
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(180_000);
  await former.leave();
  // The id of the former key expires after the last hub with this key.
  await ask("DEL", "toolyard:secret:key");
  await join(OTHER_KEY);
  expect(lines).toEqual([]);
});

test("hubs get the same secret back after the store lost its data", async () => {
  const [here, there] = [await join(KEY), await join(KEY)];
  await server.kill();
  await vi.waitFor(() => expect(lines).toHaveLength(2));
  await server.resume();
  await vi.waitFor(() => expect(lines).toHaveLength(4), { timeout: 5000 });
  await here.flush();
  await there.flush();
  expect([hexOf(there), hexOf(await join(KEY))]).toEqual([hexOf(here), hexOf(here)]);
});

test("a hub uses the random value that another hub stored after the loss", async () => {
  const here = await join(KEY);
  await server.kill();
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  const former = hexOf(here);
  await server.resume();
  await ask("SET", "toolyard:secret", randomBytes(32).toString("hex"));
  await vi.waitFor(() => expect(lines).toHaveLength(2), { timeout: 5000 });
  await here.flush();
  expect(hexOf(await join(KEY))).toBe(hexOf(here));
  expect(former).toMatch(/^[\da-f]{64}$/);
});

test.each(["short", "%%%"])("a hub with the invalid key %s does not join", async (key) => {
  await expect(join(key)).rejects.toThrow(/TOOLYARD_VAULT_KEY must be 32 random bytes/);
});
