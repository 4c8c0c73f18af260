// Contract tests of the authorization server's state, on disk and in Redis. Two hubs use one state.
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HAS_REDIS, RedisServer } from "../../../../../test/support/redis-server.ts";
import {
  GrantRevokedError,
  MAX_CLIENTS,
  POLL_RULE,
  TableFullError,
  type AuthState,
  type ReuseRule,
} from "../../state/ports/auth-state.ts";
import type { HubState } from "../../state/ports/store.ts";
import { REDIS } from "../../state/redis/kind.ts";
import { openDiskState } from "./disk/disk-state.ts";
import { loadServerKeys } from "./keys.ts";
import { Users } from "./users.ts";

const GRACE: ReuseRule = { graceMs: 30_000, maxUses: 2 };
const ONCE: ReuseRule = { graceMs: 0, maxUses: 0 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEY = randomBytes(32);

let redis: RedisServer;
let folder: string;

beforeAll(async () => {
  if (HAS_REDIS) redis = await RedisServer.start();
});

afterAll(async () => {
  if (HAS_REDIS) await redis[Symbol.asyncDispose]();
});

beforeEach(async () => {
  // Only the clock is controlled, because the client of a remote store uses real timers.
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  folder = await mkdtemp(join(tmpdir(), "toolyard-auth-state-"));
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

const digest = (): string => randomBytes(32).toString("hex");
const soon = (): number => Date.now() + HOUR_MS;

describe.each([["redis" as const], ["disk" as const]])("%s", (name) => {
  const joined: HubState[] = [];
  let here: AuthState;
  let there: AuthState;

  beforeEach(async ({ skip }) => {
    skip(name === "redis" && !HAS_REDIS, "Redis is not on this machine");
    if (name === "disk") {
      here = openDiskState(folder);
      there = here;
      return;
    }
    const store = { url: redis.url, prefix: `${randomUUID()}:` };
    for (const hub of ["here", "there"])
      joined.push(await REDIS.open({ store }, { importRedis: () => import("ioredis") })!.join(hub));
    [here, there] = (await Promise.all(joined.map((state) => state.openAuthState!(KEY)))) as [AuthState, AuthState];
  });

  afterEach(async () => {
    for (const state of joined.splice(0)) await state.leave();
  });

  describe("records", () => {
    test("are found at another hub until they expire", async () => {
      const key = digest();
      await here.records("Session").write(key, { uid: "u1", authTime: 1 }, soon());
      expect(await there.records("Session").find(key)).toEqual({ uid: "u1", authTime: 1 });
      expect(await there.records("Grant").find(key)).toBeUndefined();
      vi.setSystemTime(soon() + 1000);
      expect(await there.records("Session").find(key)).toBeUndefined();
    });

    test.each([
      ["Session" as const, "uid" as const],
      ["DeviceCode" as const, "userCode" as const],
    ])("of the model %s are found by %s, and not after their removal", async (model, member) => {
      const key = digest();
      await here.records(model).write(key, { [member]: "ABCD-EFGH" }, soon());
      const found = { key, payload: { [member]: "ABCD-EFGH" } };
      expect(await there.records(model).findBy(member, "ABCD-EFGH")).toEqual(found);
      expect(await there.records(model).findBy(member, "abcd-efgh")).toBeUndefined();
      await there.records(model).remove(key);
      expect(await here.records(model).findBy(member, "ABCD-EFGH")).toBeUndefined();
    });

    test("are found by the new value only after they were replaced", async () => {
      const key = digest();
      await here.records("Session").write(key, { uid: "before" }, soon());
      await there.records("Session").write(key, { uid: "after" }, soon());
      expect(await here.records("Session").findBy("uid", "after")).toMatchObject({ key });
      expect(await here.records("Session").findBy("uid", "before")).toBeUndefined();
    });

    test("are taken by one of several hubs", async () => {
      const key = digest();
      await here.records("FederatedSignIn").write(key, { nonce: "n" }, soon());
      const hubs = [here, there, here, there];
      const taken = await Promise.all(hubs.map((hub) => hub.records("FederatedSignIn").take(key)));
      expect(taken.filter(Boolean)).toEqual([{ nonce: "n" }]);
    });

    test("claim a one-time id once on all hubs", async () => {
      const key = digest();
      const hubs = [here, there, here, there, here];
      const claims = await Promise.all(hubs.map((hub) => hub.records("UsedAssertion").claim(key, soon())));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await there.records("UsedAssertion").claim(digest(), soon())).toBe(true);
    });

    test.each(["grantId", "accountId"] as const)("with one %s are removed together", async (member) => {
      const [own, other, foreign] = [digest(), digest(), digest()];
      const tokens = here.records("AccessToken");
      await tokens.write(own, { [member]: "x" }, soon());
      await there.records("AccessToken").write(other, { [member]: "x" }, soon());
      await tokens.write(foreign, { [member]: "y" }, soon());
      expect((await there.records("AccessToken").removeBy(member, "x")).toSorted()).toEqual([own, other].toSorted());
      expect([await tokens.find(own), await tokens.find(other)]).toEqual([undefined, undefined]);
      expect(await tokens.find(foreign)).toEqual({ [member]: "y" });
      expect(await tokens.removeBy(member, "x")).toEqual([]);
    });

    test("of a revoked grant are refused afterwards, of a removed session not", async () => {
      const [before, after] = [digest(), digest()];
      await here.records("RefreshToken").write(before, { grantId: "g", accountId: "a" }, soon());
      await here.records("RefreshToken").removeBy("grantId", "g");
      const late = there.records("RefreshToken").write(after, { grantId: "g", accountId: "a" }, soon());
      await expect(late).rejects.toThrow(GrantRevokedError);
      expect(await here.records("RefreshToken").find(after)).toBeUndefined();
      await here.records("RefreshToken").removeBy("accountId", "a");
      await there.records("RefreshToken").write(after, { grantId: "other", accountId: "a" }, soon());
      expect(await here.records("RefreshToken").find(after)).toMatchObject({ accountId: "a" });
    });
  });

  describe("the use of a record", () => {
    test("succeeds once if many hubs use a code concurrently", async () => {
      const key = digest();
      await here.records("AuthorizationCode").write(key, { grantId: "g" }, soon());
      const hubs = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? here : there));
      const uses = await Promise.all(hubs.map((hub) => hub.records("AuthorizationCode").use(key, ONCE)));
      expect(uses.toSorted()).toEqual([...Array<string>(11).fill("reused"), "used"]);
      expect(await there.records("AuthorizationCode").find(key)).toMatchObject({ consumed: expect.any(Number) });
    });

    test("succeeds three times within the grace period, and not after it", async () => {
      const [key, late] = [digest(), digest()];
      for (const one of [key, late]) await here.records("RefreshToken").write(one, { grantId: "g" }, soon());
      const hubs = [here, there, here, there, here];
      const uses = await Promise.all(hubs.map((hub) => hub.records("RefreshToken").use(key, GRACE)));
      expect(uses.toSorted()).toEqual(["reused", "reused", "used", "used", "used"]);
      expect(await there.records("RefreshToken").find(key)).toMatchObject({ graceUses: 2 });
      expect(await here.records("RefreshToken").use(late, GRACE)).toBe("used");
      vi.setSystemTime(Date.now() + GRACE.graceMs + 2000);
      expect(await there.records("RefreshToken").use(late, GRACE)).toBe("reused");
    });

    test("fails for an unknown, a removed and an expired record", async () => {
      const [removed, expired] = [digest(), digest()];
      const codes = here.records("AuthorizationCode");
      await codes.write(removed, {}, soon());
      await codes.remove(removed);
      expect([await codes.use(digest(), GRACE), await codes.use(removed, GRACE)]).toEqual(["missing", "missing"]);
      await codes.write(expired, {}, Date.now() + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      vi.setSystemTime(Date.now() + 10);
      expect(await there.records("AuthorizationCode").use(expired, GRACE)).toBe("missing");
    });

    test("is kept when the record is written again", async () => {
      const key = digest();
      const codes = here.records("DeviceCode");
      await codes.write(key, { userCode: "A" }, soon());
      await codes.use(key, ONCE);
      const found = await there.records("DeviceCode").find(key);
      await there.records("DeviceCode").write(key, { ...found, accountId: "a" }, soon());
      expect(await codes.use(key, ONCE)).toBe("reused");
    });

    test("never succeeds more often than the rule permits, for any order of hubs and any pauses", async () => {
      const step = fc.record({ isHere: fc.boolean(), pauseMs: fc.integer({ min: 0, max: 12_000 }) });
      const rule = fc.record({ graceMs: fc.integer({ min: 0, max: 30_000 }), maxUses: fc.integer({ min: 0, max: 4 }) });
      const property = fc.asyncProperty(
        rule,
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (allowed, steps) => {
          const key = digest();
          await here.records("RefreshToken").write(key, {}, Date.now() + DAY_MS);
          let first: number | undefined;
          let uses = 0;
          for (const { isHere, pauseMs } of steps) {
            vi.setSystemTime(Date.now() + pauseMs);
            const isUsed = (await (isHere ? here : there).records("RefreshToken").use(key, allowed)) === "used";
            // The journal stores seconds, so a grace period may end up to a second later.
            if (isUsed && first !== undefined) expect(Date.now() - first).toBeLessThanOrEqual(allowed.graceMs + 1000);
            if (isUsed) uses += 1;
            first ??= Date.now();
          }
          expect(uses).toBeLessThanOrEqual(1 + allowed.maxUses);
          expect(uses).toBeGreaterThanOrEqual(1);
        },
      );
      await fc.assert(property, { numRuns: 25, seed: 20_261_127 });
    });
  });

  describe("texts", () => {
    test("are created once by concurrent hubs, and read with a stamp", async () => {
      const keys = await Promise.all([here, there, here].map((hub) => loadServerKeys(hub.keys, Date.now())));
      expect(new Set(keys.map(({ jwks }) => jwks[0]!.kid)).size).toBe(1);
      const found = await there.keys.read();
      expect(found).toMatchObject({ stamp: expect.any(String), text: expect.stringContaining("cookies") });
      expect(await here.keys.read((found as { stamp: string }).stamp)).toBe("same");
      expect(await here.users.read()).toBeUndefined();
    });

    test("keep every change of concurrent hubs", async () => {
      const names = Array.from({ length: 12 }, (_, at) => `user-${at}`);
      const add = (name: string, at: number) =>
        new Users((at % 2 === 0 ? here : there).users).add(name, { hash: "h", groups: [] });
      await Promise.all(names.map(add));
      expect((await new Users(there.users).list()).map(({ name: one }) => one).toSorted()).toEqual(names.toSorted());
    });

    test("stay unchanged if a change fails", async () => {
      const users = new Users(here.users);
      await users.add("ann", { hash: "h", groups: [] });
      await expect(new Users(there.users).add("Ann", { hash: "h", groups: [] })).rejects.toThrow("already");
      expect(await users.list()).toHaveLength(1);
    });

    test("show a change of another hub within a second", async () => {
      const [mine, theirs] = [new Users(here.users), new Users(there.users)];
      const { sub } = await mine.add("ann", { hash: "h", groups: [] });
      expect(await theirs.findBySub(sub)).toMatchObject({ name: "ann" });
      await mine.remove("ann");
      vi.setSystemTime(Date.now() + 1000);
      vi.advanceTimersByTime(1000);
      expect(await theirs.findBySub(sub)).toBeUndefined();
    });
  });

  describe("signing keys", () => {
    test("are replaced after 90 days: published by every hub first, and used ten minutes later", async () => {
      const first = await loadServerKeys(here.keys, Date.now());
      const later = Date.now() + 91 * DAY_MS;
      const [rotated, seen] = [await loadServerKeys(here.keys, later), await loadServerKeys(there.keys, later)];
      expect(rotated).toEqual(seen);
      expect(rotated.jwks).toHaveLength(2);
      expect([rotated.jwks[0], rotated.cookies[0]]).toEqual([first.jwks[0], first.cookies[0]]);
      const used = await loadServerKeys(there.keys, later + 11 * 60_000);
      expect([used.jwks[0], used.cookies[0]]).toEqual([rotated.jwks[1], rotated.cookies[1]]);
      const next = await loadServerKeys(here.keys, later + 91 * DAY_MS);
      expect(next.jwks.map(({ kid }) => kid)).not.toContain(first.jwks[0]!.kid);
    });
  });

  describe("the table of clients", () => {
    test("stores, replaces, lists and removes values of all hubs", async () => {
      await here.clients.put("one", "1");
      await there.clients.put("two", "2");
      await there.clients.put("one", "3");
      expect((await here.clients.all()).toSorted()).toEqual(["2", "3"]);
      expect([await here.clients.remove("one"), await there.clients.remove("one")]).toEqual([true, false]);
      expect([await here.clients.get("one"), await here.clients.get("two")]).toEqual([undefined, "2"]);
    });

    test("refuses a new value at its limit, and replaces a known one", async () => {
      const names = Array.from({ length: MAX_CLIENTS }, (_, at) => `client-${at}`);
      await Promise.all(names.map((one) => here.clients.put(one, "{}")));
      await expect(there.clients.put("more", "{}")).rejects.toThrow(TableFullError);
      await there.clients.put("client-0", "replaced");
      expect(await here.clients.get("client-0")).toBe("replaced");
    });
  });

  describe("limits of attempts", () => {
    const LIMIT = { burst: 3, everyMs: 1000 };

    test("hold for all hubs together, and recover with time", async () => {
      const attempts = [here, there, here, there].map((hub) => hub.attempts("passwords", LIMIT));
      const waits: number[] = [];
      for (const one of attempts) waits.push(await one.take("ann"));
      expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
      expect(waits[3]).toBeGreaterThan(0);
      expect(waits[3]).toBeLessThanOrEqual(1000);
      expect(await attempts[1]!.take("bob")).toBe(0);
      vi.setSystemTime(Date.now() + 1000);
      expect(await attempts[0]!.take("ann")).toBe(0);
      expect(await attempts[1]!.take("ann")).toBeGreaterThan(0);
    });

    test("forget a key, and cancel one attempt", async () => {
      const [mine, theirs] = [here.attempts("x", LIMIT), there.attempts("x", LIMIT)];
      for (let count = 0; count < 3; count += 1) await mine.take("ann");
      await theirs.giveBack("ann");
      expect(await mine.take("ann")).toBe(0);
      expect(await mine.take("ann")).toBeGreaterThan(0);
      await theirs.clear("ann");
      expect(await mine.take("ann")).toBe(0);
      await theirs.giveBack("unknown");
      expect(await mine.take("unknown")).toBe(0);
    });

    test("of one name do not count for another name", async () => {
      for (let count = 0; count < 3; count += 1) await here.attempts("a", LIMIT).take("ann");
      expect(await there.attempts("b", LIMIT).take("ann")).toBe(0);
    });
  });

  test("a device that polls too soon at any hub gets a longer interval", async () => {
    const poll = async (hub: AuthState, afterMs: number): Promise<boolean> => {
      vi.setSystemTime(Date.now() + afterMs);
      return hub.polls.isTooSoon("code");
    };
    const { intervalMs, longerMs } = POLL_RULE;
    expect(await poll(here, 0)).toBe(false);
    expect(await poll(there, intervalMs)).toBe(false);
    expect(await poll(here, 1000)).toBe(true);
    expect(await poll(there, intervalMs)).toBe(true);
    expect(await poll(here, intervalMs + 2 * longerMs)).toBe(false);
    expect(await there.polls.isTooSoon("other")).toBe(false);
  });
});
