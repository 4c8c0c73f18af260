// Contract tests of the stored sign-ins, in files and in Redis. Two hubs use one vault.
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HAS_REDIS, RedisServer } from "../../../../test/support/redis-server.ts";
import { SILENT_LOGGER } from "../core/ports/ports.ts";
import { LeaseTakenError, type SharedVault } from "../state/ports/shared-vault.ts";
import type { HubState } from "../state/ports/store.ts";
import { REDIS } from "../state/redis/kind.ts";
import { openIssuers, openVault } from "./context.ts";
import type { SignInRecord } from "./records.ts";
import { sharedSignIns } from "./store-vault.ts";
import type { IssuerBindings, SignInVault } from "./vault-port.ts";

const RECORD: SignInRecord = {
  source: "far",
  url: "https://mcp.example/mcp",
  person: "shared",
  server: { issuer: "https://auth.example", token_endpoint: "https://auth.example/token" },
  client: { issuer: "https://auth.example", id: "c", method: "none", from: "registered" },
  tokens: { access: "secret-access", type: "Bearer", refresh: "secret-refresh", obtainedAt: 1 },
  scopes: ["a"],
};
const BINDING = { issuer: "https://auth.example", address: "https://auth.example" };
const KEY = randomBytes(32);

/** Script that returns each key with its TTL and its value. */
const DUMP = `
local found = {}
for _, key in ipairs(redis.call('KEYS', KEYS[1] .. '*')) do
  found[#found + 1] = key .. redis.call('PTTL', key) .. redis.call('DUMP', key)
end
return table.concat(found, ' ')`;

let redis: RedisServer;

beforeAll(async () => {
  if (HAS_REDIS) redis = await RedisServer.start();
});

afterAll(async () => {
  if (HAS_REDIS) await redis[Symbol.asyncDispose]();
});

interface VaultUser {
  readonly vault: SignInVault;
  readonly issuers: IssuerBindings;
}

describe.each([["redis" as const], ["files" as const]])("%s", (name) => {
  const joined: HubState[] = [];
  let folder: string;
  let prefix: string;
  let here: VaultUser;
  let there: VaultUser;

  beforeEach(async ({ skip }) => {
    skip(name === "redis" && !HAS_REDIS, "Redis is not on this machine");
    folder = await mkdtemp(join(tmpdir(), "toolyard-vaults-"));
    prefix = `${randomUUID()}:`;
    const open = async (hub: string): Promise<VaultUser> => {
      const shared = name === "redis" ? await sharedVault(hub) : undefined;
      const variables = { TOOLYARD_VAULT_KEY: KEY.toString("base64") };
      const place = { folder, shared: shared && sharedSignIns(shared), environment: variables, logger: SILENT_LOGGER };
      return { vault: openVault(place), issuers: openIssuers(place) };
    };
    [here, there] = [await open("here"), await open("there")];
  });

  afterEach(async () => {
    for (const state of joined.splice(0)) await state.leave();
    await rm(folder, { recursive: true, force: true });
  });

  async function sharedVault(hub: string, key: Uint8Array = KEY): Promise<SharedVault> {
    const store = { url: redis.url, prefix };
    const state = await REDIS.open({ store }, { importRedis: () => import("ioredis") })!.join(hub);
    joined.push(state);
    return state.openVault!(key);
  }

  test("a hub finds the sign-ins of another hub, and only those of their owner and server", async () => {
    await here.vault.update(RECORD, () => RECORD);
    expect(await there.vault.find(RECORD)).toEqual(RECORD);
    expect(await there.vault.find({ ...RECORD, person: "principal ann" })).toBeUndefined();
    expect(await there.vault.find({ ...RECORD, url: "https://other.example/mcp" })).toBeUndefined();
    expect(await there.vault.all()).toEqual([RECORD]);
    expect(await there.vault.update(RECORD, () => undefined)).toBeUndefined();
    expect([await here.vault.find(RECORD), await here.vault.all()]).toEqual([undefined, []]);
  });

  test("concurrent changes of one record lose none of them", async () => {
    const add = ({ vault }: VaultUser, scope: string): Promise<unknown> =>
      vault.update(RECORD, (before = RECORD) => ({ ...before, scopes: [...before.scopes, scope] }));
    await Promise.all(Array.from({ length: 12 }, (_, at) => add(at % 2 === 0 ? here : there, `s${at}`)));
    expect((await there.vault.find(RECORD))?.scopes).toHaveLength(13);
  });

  test("a change that throws, or changes nothing, leaves the record unchanged", async () => {
    await here.vault.update(RECORD, () => RECORD);
    const failing = there.vault.update(RECORD, () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await there.vault.update(RECORD, (record) => record)).toEqual(RECORD);
    expect(await here.vault.find(RECORD)).toEqual(RECORD);
  });

  test("one hub at a time uses a name, and different names do not wait for each other", async () => {
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    };
    await Promise.all([here, there, here, there].map(({ vault }) => vault.exclusively("renew-a", work)));
    expect(most).toBe(1);
    await here.vault.exclusively("renew-a", () => there.vault.exclusively("renew-b", work));
    expect(most).toBe(1);
  });

  test("a name is free after its work has failed, and waiting can be aborted", async () => {
    await expect(here.vault.exclusively("x", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const ending = new AbortController();
    await there.vault.exclusively("x", async () => {
      const waiting = here.vault.exclusively("x", () => Promise.resolve("late"), ending.signal);
      ending.abort(new Error("closed"));
      await expect(waiting).rejects.toThrow();
    });
    expect(await here.vault.exclusively("x", () => Promise.resolve("next"))).toBe("next");
  });

  test("the first hub that claims an issuer decides", async () => {
    const other = { ...BINDING, issuer: "https://evil.example" };
    const claims = await Promise.all([here.issuers.claim(RECORD, BINDING), there.issuers.claim(RECORD, other)]);
    expect(claims[0]!.issuer).toBe(claims[1]!.issuer);
    expect(await there.issuers.find(RECORD)).toMatchObject({ issuer: claims[0]!.issuer });
    expect(await here.issuers.claim(RECORD, BINDING, () => false)).toMatchObject(BINDING);
    expect(await there.issuers.all()).toMatchObject([{ source: "far", ...BINDING }]);
    expect([await there.issuers.forget("other"), await there.issuers.forget("far")]).toEqual([0, 1]);
    expect(await here.issuers.find(RECORD)).toBeUndefined();
  });

  if (name === "redis") {
    test("the store contains no secret, each of its keys expires, and another key is refused", async () => {
      await here.vault.update(RECORD, () => RECORD);
      await here.issuers.claim(RECORD, BINDING);
      const state = joined[0]!;
      const stored = String(await state.queues!.command("EVAL", DUMP, 1, `${prefix}vault:`));
      expect(stored).toContain("table:{sign-ins}");
      for (const secret of ["secret-access", "secret-refresh", "auth.example", "mcp.example", "far"])
        expect(stored.includes(secret)).toBe(false);
      expect(stored).not.toMatch(/\}-1/);
      await expect(sharedVault("other", randomBytes(32))).rejects.toThrow("Give all hubs of the store the same value");
    });

    test("every hub notices a change, and the lease of a killed hub ends", async () => {
      const [mine, theirs] = await Promise.all(joined.map((state) => state.openVault!(KEY)));
      expect([mine!.version, theirs!.version]).toEqual([0, 0]);
      await here.vault.update(RECORD, () => RECORD);
      // The hub that changes a record notices it before its own notification arrives.
      expect(mine!.version).toBeGreaterThan(0);
      await expect.poll(() => theirs!.version).toBe(1);
      expect((await sharedVault("late")).version).toBe(1);
      const late = joined[0]!.queues!;
      await here.vault.exclusively("killed", async () => {
        const [lease] = (await late.command("KEYS", `${prefix}vault:lease:*`)) as string[];
        // The hub does not renew its lease any more.
        await late.command("SET", lease!, "token of a killed hub", "PX", 200);
        expect(await there.vault.exclusively("killed", () => Promise.resolve("done"))).toBe("done");
      });
    });
  }
});

test("a renewal that waits too long for another hub fails as unavailable and can be repeated", async () => {
  const shared = { exclusively: () => Promise.reject(new LeaseTakenError("taken")) };
  const { vault } = sharedSignIns(shared as unknown as SharedVault);
  const work = vault.exclusively("far", () => Promise.resolve());
  await expect(work).rejects.toMatchObject({ failure: { kind: "unavailable", retryable: true } });
});
