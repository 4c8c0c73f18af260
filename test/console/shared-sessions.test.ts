// Browser sessions in the store of several hubs, with a real Redis: two hubs of this process share them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CodeFlowRefused, type IssuedTokens } from "../../packages/toolyard/src/core/ports/code-flow.ts";
import { SealedRecords } from "../../packages/toolyard/src/features/console/access/sealed-records.ts";
import type { SignedIn } from "../../packages/toolyard/src/features/console/access/sessions.ts";
import { SharedSessions } from "../../packages/toolyard/src/features/console/access/shared-sessions.ts";
import type { HubState } from "../../packages/toolyard/src/state/ports/store.ts";
import { REDIS } from "../../packages/toolyard/src/state/redis/kind.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";

let redis: RedisServer;
let hubs: readonly HubState[];
beforeAll(async () => {
  if (!HAS_REDIS) return;
  redis = await RedisServer.start();
  const store = REDIS.open({ store: { url: redis.url } }, { importRedis: () => import("ioredis") })!;
  hubs = await Promise.all(["hub-a-1", "hub-b-1"].map((hub) => store.join(hub)));
});
beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));
afterAll(async () => {
  await Promise.all((hubs ?? []).map((hub) => hub.leave()));
  await redis?.[Symbol.asyncDispose]();
});

class Provider {
  readonly refreshed: string[] = [];
  readonly revoked: string[] = [];
  readonly name = "issuer";
  answer: (count: number) => Promise<IssuedTokens> = async (count) => ({
    accessToken: `a${count}`,
    refreshToken: `r${count}`,
    expiresAt: Date.now() + 3_600_000,
  });
  refresh(token: string): Promise<IssuedTokens> {
    this.refreshed.push(token);
    return this.answer(this.refreshed.length);
  }
  async revoke(token: string): Promise<void> {
    this.revoked.push(token);
  }
}

function pair(
  provider: SignedIn["flow"],
  limits: { readonly maxSessions?: number; readonly refreshMs?: number; readonly extendAfterMs?: number } = {},
): readonly [SharedSessions, SharedSessions] {
  const parts = { sessionMs: 60_000, maxSessions: 64, ...limits, findFlow: async () => provider };
  const [first, second] = hubs.map(({ queues }) => new SharedSessions({ queues: queues!, ...parts }));
  return [first!, second!];
}

/**
 * Renews at both hubs with the same refresh token, as after a loss of the first hub's lock. The second hub gets new
 * tokens, then the first one is refused. Returns the names of the locks.
 */
async function renewWithLostLock(
  provider: Provider,
  [first, second]: readonly [SharedSessions, SharedSessions],
  cookie: string,
): Promise<readonly string[]> {
  const { queues } = hubs[0]!;
  let locks: readonly string[] = [];
  provider.answer = async () => {
    locks = (await queues!.command("KEYS", `${queues!.prefix}{console:sessions}:lock:*`)) as readonly string[];
    await Promise.all(locks.map((lock) => queues!.command("DEL", lock)));
    provider.answer = async () => ({ accessToken: "a1", refreshToken: "r1", expiresAt: Date.now() + 3_600_000 });
    await second.renew(cookie);
    throw new CodeFlowRefused("invalid_grant");
  };
  await first.renew(cookie);
  return locks;
}

const DUE = (flow: SignedIn["flow"], leftMs = 5000): SignedIn => ({
  accessToken: "a0",
  refreshToken: "r0",
  expiresAt: Date.now() + leftMs,
  flow,
});

describe("sessions of two hubs", () => {
  test("are found at both with cookie and key only", async () => {
    const [first, second] = pair(new Provider());
    const { cookie, key } = await first.open({ authorization: "Bearer x" });
    expect(await second.find(cookie, key)).toEqual({ authorization: "Bearer x" });
    for (const [wrongCookie, wrongKey] of [
      [cookie, `${key.slice(0, -1)}_`],
      [cookie, ""],
      [`${cookie}x`, key],
      [key, cookie],
      ["*", key],
    ] as const)
      expect(await second.find(wrongCookie, wrongKey)).toBeUndefined();
  });

  test("renew their tokens once for concurrent requests at both hubs", async () => {
    const provider = new Provider();
    const [first, second] = pair(provider);
    const { cookie, key } = await first.open({ authorization: "Bearer a0", signedIn: DUE(provider) });
    await Promise.all([first.renew(cookie), second.renew(cookie), first.renew(cookie), second.renew(cookie)]);
    expect(provider.refreshed).toEqual(["r0"]);
    for (const sessions of [first, second])
      expect(await sessions.find(cookie, key)).toMatchObject({
        authorization: "Bearer a1",
        signedIn: { refreshToken: "r1" },
      });
  });

  test("end at both if the authorization server refuses the refresh token", async () => {
    const provider = new Provider();
    provider.answer = () => Promise.reject(new CodeFlowRefused("invalid_grant"));
    const [first, second] = pair(provider);
    const { cookie, key } = await first.open({ authorization: "Bearer a0", signedIn: DUE(provider) });
    await first.renew(cookie);
    expect(await second.find(cookie, key)).toBeUndefined();
  });

  test("stay if another hub has stored new tokens before the used refresh token is refused", async () => {
    const provider = new Provider();
    const [first, second] = pair(provider);
    const { cookie, key } = await first.open({ authorization: "Bearer a0", signedIn: DUE(provider) });
    const [lock] = await renewWithLostLock(provider, [first, second], cookie);
    expect(provider.refreshed).toEqual(["r0", "r0"]);
    expect(await second.find(cookie, key)).toMatchObject({ signedIn: { refreshToken: "r1" } });
    expect(await hubs[0]!.queues!.command("GET", lock!)).toBeNull();
  });

  test("keep the lock of another hub if their own lock has expired", async () => {
    const { queues } = hubs[0]!;
    const records = new SealedRecords({ queues: queues!, name: "locks", max: 10 });
    const lock = await records.lock("a");
    expect([lock !== undefined, await records.lock("a"), await records.isLocked("a")]).toEqual([true, undefined, true]);
    const [key] = (await queues!.command("KEYS", `${queues!.prefix}{console:locks}:lock:*`)) as [string];
    await queues!.command("SET", key, "token of another hub");
    await lock!.release();
    expect(await queues!.command("GET", key)).toBe("token of another hub");
  });

  test("stay while the authorization server does not answer", async () => {
    const provider = new Provider();
    provider.answer = () => Promise.reject(new Error("connect ECONNREFUSED"));
    const [first, second] = pair(provider);
    const { cookie, key } = await first.open({ authorization: "Bearer a0", signedIn: DUE(provider) });
    await first.renew(cookie);
    expect(await second.find(cookie, key)).toMatchObject({ authorization: "Bearer a0" });
  });

  describe("with an authorization server that fails while both hubs renew", () => {
    /** Starts a renewal at one hub. Returns the other hub when the authorization server was asked. */
    async function renewAtFirst(
      leftMs: number,
      answer: Promise<never>,
      refreshMs = 500,
    ): Promise<readonly [SharedSessions, string]> {
      const provider = new Provider();
      const hasBegun = new Promise<void>((resolve) => {
        provider.answer = () => {
          resolve();
          return answer;
        };
      });
      const [first, second] = pair(provider, { refreshMs });
      const { cookie } = await first.open({ authorization: "Bearer a0", signedIn: DUE(provider, leftMs) });
      void first.renew(cookie).catch(() => {});
      await hasBegun;
      return [second, cookie];
    }

    test("reject at the waiting hub if the token has expired, and stay", async () => {
      const [second, cookie] = await renewAtFirst(-1000, new Promise<never>(() => {}));
      await expect(second.renew(cookie)).rejects.toThrow("has not renewed");
      expect(await second.isOpen(cookie)).toBe(true);
    });

    test("resolve at the waiting hub while the token is valid", async () => {
      const [second, cookie] = await renewAtFirst(20_000, new Promise<never>(() => {}));
      await second.renew(cookie);
      expect(await second.isOpen(cookie)).toBe(true);
    });

    test("end the wait of the other hub when the renewal has failed", async () => {
      let fail = (_error: Error): void => {};
      const answer = new Promise<never>((_resolve, reject) => {
        fail = reject;
      });
      const [second, cookie] = await renewAtFirst(-1000, answer, 60_000);
      const waiting = second.renew(cookie);
      // The connection keeps the order of commands, so the second hub has asked for the lock before the last answer.
      for (let at = 0; at < 3; at += 1) await second.isOpen(cookie);
      fail(new Error("connect ECONNREFUSED"));
      await expect(waiting).rejects.toThrow("has not renewed");
    });
  });

  test("do not come back if the user signs out while the other hub renews, and the new token is revoked", async () => {
    const provider = new Provider();
    const [first, second] = pair(provider);
    const { cookie, key } = await first.open({ authorization: "Bearer a0", signedIn: DUE(provider) });
    provider.answer = async () => {
      await second.end(cookie);
      return { accessToken: "a1", refreshToken: "r1", expiresAt: Date.now() + 3_600_000 };
    };
    await first.renew(cookie);
    expect([await first.find(cookie, key), await second.isOpen(cookie)]).toEqual([undefined, false]);
    expect(provider.revoked).toEqual(["r0", "r1"]);
  });

  test("are limited together, and the least recently used one ends", async () => {
    const [first, second] = pair(new Provider(), { maxSessions: 3, extendAfterMs: 0 });
    const opened = [await first.open({ authorization: "1" }), await second.open({ authorization: "2" })];
    opened.push(await first.open({ authorization: "3" }));
    await second.find(opened[0]!.cookie, opened[0]!.key);
    opened.push(await second.open({ authorization: "4" }));
    const found = await Promise.all(opened.map(({ cookie, key }) => first.find(cookie, key)));
    expect(found.filter((session) => session === undefined)).toHaveLength(1);
    expect([found[0], found[3]]).toEqual([{ authorization: "1" }, { authorization: "4" }]);
  });

  test.each([
    [0, true],
    [30_000, false],
  ])(
    "20 s after their last extension, are extended by a request if `extendAfterMs` is %d: %s",
    async (extendAfterMs, isExtended) => {
      const [first] = pair(new Provider(), { extendAfterMs });
      const { queues } = hubs[0]!;
      const { cookie, key } = await first.open({ authorization: "Bearer x" });
      const [id] = (await queues!.command("ZREVRANGE", `${queues!.prefix}{console:sessions}`, 0, 0)) as [string];
      const record = `${queues!.prefix}{console:sessions}:${id}`;
      await queues!.command("PEXPIRE", record, 40_000);
      expect(await first.find(cookie, "another key")).toBeUndefined();
      expect(Number(await queues!.command("PTTL", record))).toBeLessThanOrEqual(40_000);
      expect(await first.find(cookie, key)).toEqual({ authorization: "Bearer x" });
      expect(Number(await queues!.command("PTTL", record)) > 40_000).toBe(isExtended);
    },
  );

  test("are refused with 503 and not lost while the store is away", async () => {
    const server = await RedisServer.start();
    const store = REDIS.open({ store: { url: server.url } }, { importRedis: () => import("ioredis") })!;
    const hub = await store.join("hub-c-1");
    const sessions = new SharedSessions({
      queues: hub.queues!,
      sessionMs: 60_000,
      maxSessions: 3,
      findFlow: async () => undefined,
    });
    const { cookie, key } = await sessions.open({ authorization: "Bearer x" });
    await server.kill();
    await expect(sessions.find(cookie, key)).rejects.toMatchObject({ status: 503 });
    await hub.leave();
    await server[Symbol.asyncDispose]();
  });
});

test("a record that was changed in the store, or moved to another id, is treated as missing", async () => {
  const { queues } = hubs[0]!;
  const records = new SealedRecords({ queues: queues!, name: "test", max: 10 });
  await Promise.all([records.put("one", { value: 1 }, 60_000), records.put("two", { value: 2 }, 60_000)]);
  const keys = (await queues!.command("KEYS", `${queues!.prefix}{console:test}:*`)) as string[];
  const [first, second] = keys as [string, string];
  const text = String(await queues!.command("GET", first));
  await queues!.command("SET", second, text);
  await queues!.command("SET", first, `${text.slice(0, -4)}AAAA`);
  expect(await Promise.all([records.read("one"), records.read("two")])).toEqual([undefined, undefined]);
});
