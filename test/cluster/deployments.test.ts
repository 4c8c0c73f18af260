// The store on each kind of deployment: Sentinel with a failover, Cluster, TLS with a CA and client certificate, ACL.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SealedRecords } from "../../packages/toolyard/src/features/console/access/sealed-records.ts";
import { ConsoleHubs } from "../../packages/toolyard/src/features/console/hubs/console-hubs.ts";
import type { SessionRecord } from "../../packages/toolyard/src/state/ports/session-records.ts";
import type { AuthState } from "../../packages/toolyard/src/state/ports/auth-state.ts";
import type { SharedVault } from "../../packages/toolyard/src/state/ports/shared-vault.ts";
import type { HubState } from "../../packages/toolyard/src/state/ports/store.ts";
import { REDIS } from "../../packages/toolyard/src/state/redis/kind.ts";
import { CertificateFiles } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { askModern, inTurn, LegacyClient, textOf } from "./clients.ts";
import { Cluster } from "./hub-process.ts";
import { documentedUser, HAS_SENTINEL, RedisCluster, RedisSentinel } from "./redis-deployments.ts";

const RECORD: SessionRecord = {
  principal: { id: "ada", rights: { allow: ["*"] } },
  client: { capabilities: {} },
  revision: "2025-11-25",
  mode: "normal",
  subscriptions: [],
};
const ONE = { perMinute: 60, inFlight: 1 };
const LOG = { maxBytes: 16_000, maxEvents: 10, keepMs: 60_000 };
const WAIT = { timeout: 20_000, interval: 50 };

const joined: HubState[] = [];

async function join2(store: object): Promise<readonly [HubState, HubState]> {
  const open = async (hub: string): Promise<HubState> => {
    const state = await REDIS.open({ store } as object, { importRedis: () => import("ioredis") })!.join(hub);
    joined.push(state);
    return state;
  };
  return [await open("here"), await open("there")];
}

beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));

afterEach(leaveAll);

async function leaveAll(): Promise<void> {
  for (const state of joined.splice(0)) await state.leave();
}

const KEY = Buffer.alloc(32, 7);

/** Uses each part of the authorization server's state once, with both hubs. */
async function useSignIn(here: AuthState, there: AuthState): Promise<void> {
  const [key, until] = ["ab".repeat(32), Date.now() + 60_000];
  await here.records("Session").write(key, { uid: "u", grantId: "g" }, until);
  expect(await there.records("Session").findBy("uid", "u")).toMatchObject({ key });
  const rule = { graceMs: 1000, maxUses: 1 };
  for (const use of ["used", "used", "reused"]) expect(await there.records("Session").use(key, rule)).toBe(use);
  expect(await here.records("Session").removeBy("grantId", "g")).toEqual([key]);
  expect(await there.records("Session").take(key)).toBeUndefined();
  expect(await there.records("UsedAssertion").claim(key, until)).toBe(true);
  await here.users.change(async () => ({ text: "users", result: undefined }));
  expect(await there.users.read()).toMatchObject({ text: "users" });
  await here.clients.put("c", "client");
  expect([await there.clients.all(), await there.clients.remove("c")]).toEqual([["client"], true]);
  const attempts = here.attempts("x", { burst: 1, everyMs: 60_000 });
  expect([await attempts.take("a"), (await attempts.take("a")) > 0]).toEqual([0, true]);
  await attempts.giveBack("a");
  await attempts.clear("a");
  expect(await there.polls.isTooSoon("code")).toBe(false);
}

/** Uses each part of the shared vault once, with both hubs. */
async function useVault(here: SharedVault, there: SharedVault): Promise<void> {
  const place = { table: "sign-ins", name: "a" } as const;
  const none = await here.find(place);
  expect(await here.replace(place, none, "text")).toBe(true);
  expect(await there.replace(place, none, "other")).toBe(false);
  expect([(await there.find(place)).value, await there.all("sign-ins")]).toEqual(["text", ["text"]]);
  expect(await here.exclusively("work", () => Promise.resolve(1), { waitMs: 0 })).toBe(1);
}

/** Uses each part of the console's state once, with both hubs. */
async function useConsole(here: HubState, there: HubState): Promise<void> {
  const [ours, theirs] = [here, there].map(
    ({ queues }) => new SealedRecords({ queues: queues!, name: "used", max: 2 }),
  ) as [SealedRecords, SealedRecords];
  for (const name of ["first", "second", "third"]) await ours.put(name, { name }, 60_000);
  expect([await theirs.read("first"), await theirs.read("third")]).toEqual([undefined, { name: "third" }]);
  expect(await theirs.replace("third", { name: "changed" }, 60_000)).toBe(true);
  await ours.extend("third", 90_000);
  const lock = await ours.lock("third");
  expect([await theirs.lock("third"), await theirs.isLocked("third")]).toEqual([undefined, true]);
  await lock!.release();
  expect(await theirs.isLocked("third")).toBe(false);
  expect([await ours.take("third"), await theirs.take("third")]).toEqual([{ name: "changed" }, undefined]);
  const [own, other] = [here, there].map(({ queues, peers }) => new ConsoleHubs(queues!, peers!));
  await other!.list();
  expect((await own!.list()).map(({ id }) => id)).toEqual(["here", "there"]);
  other!.leave();
  await vi.waitFor(async () => expect(await own!.list()).toHaveLength(1), WAIT);
}

/** Uses each port of the state once, with both hubs. */
async function useAll(here: HubState, there: HubState): Promise<void> {
  expect(await here.limits.admit("a", ONE)).toEqual({ admitted: true });
  expect(await there.limits.admit("a", ONE)).toMatchObject({ reason: "in-flight" });
  here.limits.leave("a");
  await here.sessions.put("s", RECORD);
  expect(await there.sessions.find("s")).toMatchObject({ hub: "here", isAlive: true });
  here.sessions.release("s");
  await here.flush();
  expect(await there.sessions.claim("s", "")).toEqual(RECORD);
  await here.parked.put("p");
  expect(await there.parked.find("p")).toEqual({ hub: "here", isAlive: true });
  const [log, other] = [here.openEventLog(LOG), there.openEventLog(LOG)];
  log.append("s", { stream: 0, sequence: 1, text: "{}" });
  await here.flush();
  expect(await other.recover!("s")).toMatchObject({ lastSequence: 1 });
  await useSignIn(await here.openAuthState!(KEY), await there.openAuthState!(KEY));
  await useConsole(here, there);
  await useVault(await here.openVault!(KEY), await there.openVault!(KEY));
  const heard: string[] = [];
  there.peers!.onMessage((message) => void heard.push(message.toString()));
  there.notifications.on(({ type }) => void heard.push(type));
  await here.peers!.send("there", Buffer.from("message"));
  here.notifications.publish({ type: "end-session", session: "x" });
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(["end-session", "message"]), WAIT);
  expect(there.secret).toEqual(here.secret);
}

describe("Cluster", () => {
  test("hubs without an address pass requests through any server of the cluster, once each", async () => {
    await using redis = await RedisCluster.start();
    await using cluster = await Cluster.start({ hubs: 2, store: redis.store, isReachable: false });
    const [first, second] = cluster.hubs.map(({ url }) => url) as [string, string];
    const client = LegacyClient.continue(await LegacyClient.open(() => first), () => second);
    for (let at = 0; at < 20; at += 1)
      expect(textOf((await client.call("count", { key: `c${at}` })).at(-1))).toBe(`counted c${at}`);
    expect(new Set((await cluster.counts()).values())).toEqual(new Set([1]));
  });

  test("two hubs share all state, and pass requests of sessions and calls to each other", async () => {
    await using redis = await RedisCluster.start();
    await useAll(...(await join2(redis.store)));
    await leaveAll();
    await using cluster = await Cluster.start({ hubs: 2, store: redis.store });
    const urls = cluster.hubs.map(({ url }) => url);
    const client = await LegacyClient.open(inTurn(urls));
    for (let at = 0; at < 4; at += 1)
      expect(textOf((await client.call("echo", { key: `k${at}` })).at(-1))).toBe(`echo k${at}`);
    expect(textOf((await askModern(urls[0]!, "tools/call", { name: "echo", arguments: { key: "m" } })).at(-1))).toBe(
      "echo m",
    );
    await cluster.hubs[0]!.stop();
    const moved = LegacyClient.continue(client, () => urls[1]!);
    expect(textOf((await moved.call("echo", { key: "moved" })).at(-1))).toBe("echo moved");
  });
});

describe("Sentinel", () => {
  test("hubs continue with the replica after their server has failed", async ({ skip }) => {
    skip(!HAS_SENTINEL, "Sentinel is not on this machine");
    await using redis = await RedisSentinel.start();
    const [here, there] = await join2(redis.store);
    await useAll(here, there);
    await here.sessions.put("kept", RECORD);
    await redis.master.kill();
    await vi.waitFor(() => expect([here.isLost, there.isLost]).toEqual([true, true]), WAIT);
    await vi.waitFor(() => expect([here.isLost, there.isLost]).toEqual([false, false]), WAIT);
    await vi.waitFor(async () => {
      here.renew();
      expect(await there.sessions.find("kept")).toMatchObject({ hub: "here", isAlive: true });
    }, WAIT);
  });
});

describe("TLS and ACL", () => {
  test("hubs use their own CA, a client certificate and an ACL user with the documented commands", async () => {
    using files = new CertificateFiles();
    const port = await freePort();
    const tls = ["--tls-port", `${port}`, "--tls-cert-file", files.cert, "--tls-key-file", files.key];
    const user = [...documentedUser("hubs:"), "--user", "default", "off"];
    const args = [...tls, "--tls-ca-cert-file", files.ca, ...user];
    await using _redis = await RedisServer.start({ args });
    const store = {
      url: `rediss://hub:secret@localhost:${port}`,
      prefix: "hubs:",
      tls_ca: files.ca,
      tls_cert: files.cert,
      tls_key: files.key,
    };
    await useAll(...(await join2(store)));
    const { tls_ca: _, ...untrusting } = store;
    await expect(join2(untrusting)).rejects.toThrow(/certificate/);
    await expect(join2({ ...store, url: store.url.replace("secret", "wrong") })).rejects.toThrow(/WRONGPASS/);
    await expect(join2({ ...store, prefix: "others:" })).rejects.toThrow(/NOPERM|permission/i);
  });

  test("a command that the user of the hub may not use is logged once, and the console answers 503", async () => {
    await using redis = await RedisServer.start({ args: documentedUser("hubs:", "ZREM") });
    const [here] = await join2({ url: redis.url.replace("//", "//hub:secret@"), prefix: "hubs:" });
    const warnings: object[] = [];
    here.reportTo!({ info: () => {}, warning: (message, details) => void warnings.push({ message, ...details }) });
    const records = new SealedRecords({ queues: here.queues!, name: "used", max: 2 });
    await records.put("first", { value: 1 }, 60_000);
    for (let at = 0; at < 2; at += 1) await expect(records.take("first")).rejects.toMatchObject({ status: 503 });
    expect(warnings).toEqual([
      { message: "The shared store refused a command.", error: expect.stringMatching(/can't run this command|zrem/i) },
    ]);
  });
});
