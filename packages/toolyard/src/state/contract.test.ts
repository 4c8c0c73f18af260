// Contract tests of every store. The tests control the clock; stores may answer asynchronously.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HAS_REDIS, RedisServer } from "../../../../test/support/redis-server.ts";
import type { SessionRecord } from "./ports/session-records.ts";
import { MemoryStore } from "./memory/memory-store.ts";
import { createSharing } from "./memory/sharing.ts";
import type { HubState, Store } from "./ports/store.ts";
import { REDIS } from "./redis/kind.ts";
import type { STORES } from "./stores.ts";

const RECORD: SessionRecord = {
  principal: { id: "ada", rights: { allow: ["files__*"] } },
  client: { connection: "mcp-1", name: "client", era: "legacy", capabilities: { roots: {} } },
  revision: "2025-11-25",
  mode: "normal",
  subscriptions: ["file:///a"],
};
const LOG = { maxBytes: 1600, maxEvents: 10, keepMs: 1000 };
/** Each hub measures the clock of the store, with an error below this value. */
const CLOCK_ERROR_MS = 1000;
const TWO = { perMinute: 0, inFlight: 2 };

beforeEach(() => {
  // Only the clock is controlled, because the client of a remote store uses real timers.
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

const services = { importRedis: () => import("ioredis") };

/** Opens an empty store of each kind. */
const OPENERS: Readonly<Record<keyof typeof STORES, () => Store>> = {
  redis: () => REDIS.open({ store: { url: redis.url, prefix: `${randomUUID()}:` } }, services)!,
  memory: () => new MemoryStore(createSharing()),
};

let redis: RedisServer;

beforeAll(async () => {
  if (HAS_REDIS) redis = await RedisServer.start();
});

afterAll(async () => {
  if (HAS_REDIS) await redis[Symbol.asyncDispose]();
});

describe.each([["redis" as const], ["memory" as const]])("%s", contract);

function contract(name: keyof typeof STORES): void {
  const open = OPENERS[name];
  const joined: HubState[] = [];

  let here: HubState;
  let there: HubState;

  const join = async (store: Store, hub: string): Promise<HubState> => {
    const state = await store.join(hub);
    joined.push(state);
    return state;
  };

  /** Resolves when each of the two hubs sees what the other one has written. */
  const flush = async (): Promise<void> => {
    for (const hub of [here, there]) await hub.flush();
  };

  beforeEach(async ({ skip }) => {
    skip(name === "redis" && !HAS_REDIS, "Redis is not on this machine");
    const store = open();
    [here, there] = [await join(store, "here"), await join(store, "there")];
  });

  afterEach(async () => {
    for (const state of joined.splice(0)) await state.leave();
  });

  const isAdmitted = async (hub: HubState, bounds: typeof TWO): Promise<boolean> => {
    await flush();
    return (await hub.limits.admit("a", bounds)).admitted;
  };

  describe("limits", () => {
    test("S5: permits the share of a minute immediately, then one call per second", async () => {
      const take = (): Promise<boolean> => isAdmitted(here, { perMinute: 60, inFlight: 0 });
      const taken: boolean[] = [];
      for (let count = 0; count < 61; count += 1) taken.push(await take());
      expect(taken.filter(Boolean)).toHaveLength(60);
      vi.advanceTimersByTime(2000);
      expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    });

    test("a refusal contains the time after which a call will be admitted", async () => {
      const bounds = { perMinute: 1, inFlight: 0 };
      await here.limits.admit("a", bounds);
      const refusal = { admitted: false, reason: "rate", retryAfterMs: 60_000 };
      expect(await here.limits.admit("a", bounds)).toEqual(refusal);
    });

    test("a refused call uses neither a token of the rate nor a place", async () => {
      await here.limits.admit("a", TWO);
      await here.limits.admit("a", TWO);
      for (let count = 0; count < 100; count += 1)
        expect(await here.limits.admit("a", TWO)).toMatchObject({ reason: "in-flight" });
      here.limits.leave("a");
      expect(await here.limits.admit("a", TWO)).toEqual({ admitted: true });
    });

    test("counts the calls of the hubs together, and each key separately", async () => {
      await here.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      expect(await isAdmitted(here, TWO)).toBe(false);
      expect(await here.limits.admit("b", TWO)).toEqual({ admitted: true });
    });

    test("a hub frees only the places that its own calls take", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      here.limits.leave("a");
      expect(await isAdmitted(here, TWO)).toBe(false);
      there.limits.leave("a");
      expect(await isAdmitted(here, TWO)).toBe(true);
    });

    test("until the lease of a hub that no longer reports has expired, counts its places", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      vi.advanceTimersByTime(here.leaseMs - CLOCK_ERROR_MS);
      expect(await isAdmitted(here, TWO)).toBe(false);
      vi.advanceTimersByTime(2 * CLOCK_ERROR_MS);
      expect(await isAdmitted(here, TWO)).toBe(true);
      // The other hub is alive again and ends its calls. They are no longer counted, so this must have no effect.
      there.limits.leave("a");
      there.limits.leave("a");
      expect(await isAdmitted(here, TWO)).toBe(true);
      expect(await isAdmitted(here, TWO)).toBe(false);
    });

    test("a renewed lease does not expire", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      for (let at = 0; at < 3; at += 1) {
        vi.advanceTimersByTime(here.leaseMs - CLOCK_ERROR_MS);
        there.renew();
      }
      expect(await isAdmitted(here, TWO)).toBe(false);
    });

    test("releases the calls of a hub immediately when it leaves", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      await there.leave();
      expect(await isAdmitted(here, TWO)).toBe(true);
    });
  });

  describe("sessions", () => {
    test("each hub finds the latest version of a session record, and the hub that holds the session", async () => {
      void here.sessions.put("s", RECORD);
      void here.sessions.put("s", { ...RECORD, logLevel: "info" });
      const found = { hub: "here", isAlive: true, record: { ...RECORD, logLevel: "info" } };
      await flush();
      expect([await here.sessions.find("s"), await there.sessions.find("s")]).toEqual([found, found]);
    });

    test("finds no session that has ended or never existed", async () => {
      void here.sessions.put("s", RECORD);
      here.sessions.remove("s");
      await flush();
      expect([await there.sessions.find("s"), await there.sessions.find("t")]).toEqual([undefined, undefined]);
    });

    test("a session outlives its hub's lease, without a living hub", async () => {
      void here.sessions.put("s", RECORD);
      await flush();
      vi.advanceTimersByTime(here.leaseMs + CLOCK_ERROR_MS);
      there.renew();
      expect(await there.sessions.find("s")).toEqual({ hub: "here", isAlive: false, record: RECORD });
    });

    test("only one hub claims a session from another hub", async () => {
      void here.sessions.put("s", RECORD);
      await flush();
      const claims = await Promise.all([there.sessions.claim("s", "here"), there.sessions.claim("s", "here")]);
      expect(claims.filter((record) => record !== undefined)).toEqual([RECORD]);
      expect(await there.sessions.claim("s", "third")).toBeUndefined();
      expect(await there.sessions.claim("unknown", "here")).toBeUndefined();
      expect(await there.sessions.find("s")).toMatchObject({ hub: "there", isAlive: true });
    });

    test("a hub that lost a session to another one is notified at its next write, and changes nothing", async () => {
      const taken: string[] = [];
      const stop = here.sessions.onTaken((id) => void taken.push(id));
      void here.sessions.put("s", RECORD);
      await flush();
      await there.sessions.claim("s", "here");
      void here.sessions.put("s", { ...RECORD, logLevel: "error" });
      await vi.waitFor(() => expect(taken).toEqual(["s"]));
      here.sessions.remove("s");
      await flush();
      expect(await there.sessions.find("s")).toEqual({ hub: "there", isAlive: true, record: RECORD });
      stop();
    });

    test("a released session has no hub, and any hub can claim it", async () => {
      void here.sessions.put("s", RECORD);
      here.sessions.release("s");
      await flush();
      expect(await there.sessions.find("s")).toEqual({ hub: "", isAlive: false, record: RECORD });
      expect(await there.sessions.claim("s", "here")).toBeUndefined();
      expect(await there.sessions.claim("s", "")).toEqual(RECORD);
    });

    test("the sessions of a hub that left can be claimed", async () => {
      void here.sessions.put("s", RECORD);
      await here.leave();
      const held = await there.sessions.find("s");
      expect(held).toMatchObject({ isAlive: false, record: RECORD });
      expect(await there.sessions.claim("s", held!.hub)).toEqual(RECORD);
    });
  });

  describe("parked calls", () => {
    test("each hub finds the holder of a parked call until a hub takes the call", async () => {
      void here.parked.put("p");
      await flush();
      const holder = { hub: "here", isAlive: true };
      expect([await here.parked.find("p"), await there.parked.find("p")]).toEqual([holder, holder]);
      here.parked.remove("p");
      await flush();
      expect(await there.parked.find("p")).toBeUndefined();
    });

    test("a parked call has no living hub after its hub left", async () => {
      void here.parked.put("p");
      await here.leave();
      expect(await there.parked.find("p")).toEqual({ hub: "here", isAlive: false });
    });
  });

  describe("peers", () => {
    const heard: string[] = [];

    test("a hub that listens receives messages to it in order, and others do not", async () => {
      const stop = there.peers!.onMessage((message) => void heard.push(message.toString()));
      const sent = [];
      for (let at = 0; at < 20; at += 1) sent.push(await here.peers!.send("there", Buffer.from(`m${at}`)));
      expect(new Set(sent)).toEqual(new Set(["sent"]));
      await vi.waitFor(() => expect(heard).toEqual(Array.from({ length: 20 }, (_, at) => `m${at}`)));
      stop();
    });

    test("a message to a hub that does not exist is reported as absent", async () => {
      expect(await here.peers!.send("nobody", Buffer.from("m"))).toBe("absent");
    });

    test("each hub finds the announced facts of another one until it leaves", async () => {
      here.peers!.announce({ url: "http://127.0.0.1:1" });
      here.peers!.announce({ configuration: "digest" });
      await flush();
      expect(await there.peers!.find("here")).toEqual({ url: "http://127.0.0.1:1", configuration: "digest" });
      expect(await there.peers!.find("nobody")).toBeUndefined();
      await here.leave();
      vi.advanceTimersByTime(here.leaseMs);
      expect(await there.peers!.find("here")).toBeUndefined();
    });
  });

  test("each listening hub receives a notification, including its sender", async () => {
    const heard: string[] = [];
    const stops = [here, there].map(({ hub, notifications }) =>
      notifications.on((event) => event.type === "end-session" && heard.push(`${hub} ${event.session}`)),
    );
    here.notifications.publish({ type: "end-session", session: "s" });
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(["here s", "there s"]));
    for (const stop of stops) stop();
    here.notifications.publish({ type: "end-session", session: "t" });
    await flush();
    expect(heard).toHaveLength(2);
  });

  test("hubs of one store have the same secret, and hubs of two stores have different secrets", async () => {
    expect(here.secret).toHaveLength(32);
    expect(here.secret).toEqual(there.secret);
    const other = await join(open(), "here");
    expect(other.secret).not.toEqual(here.secret);
  });

  describe("events", () => {
    const textsOf = async (...[log, ...from]: [ReturnType<HubState["openEventLog"]>, string, number, number]) =>
      (await log.after(...from))?.map(({ text }) => text);

    test("returns the events of a session and stream after a given event", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 1, sequence: 1, text: "a" });
      log.append("s", { stream: 2, sequence: 2, text: "b" });
      log.append("s", { stream: 1, sequence: 3, text: "c" });
      log.append("t", { stream: 1, sequence: 1, text: "d" });
      expect(await textsOf(log, "s", 1, 1)).toEqual(["c"]);
      expect(await textsOf(log, "s", 2, 0)).toEqual(["b"]);
    });

    test("recognises the last event of a stream, and no event of a stream without stored events", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 1, sequence: 1, text: "a" });
      expect([await textsOf(log, "s", 1, 1), await textsOf(log, "s", 2, 0)]).toEqual([[], undefined]);
      log.forget("s");
      expect(await textsOf(log, "s", 1, 1)).toBeUndefined();
    });

    test("drops the oldest events of a session first", async () => {
      const log = here.openEventLog(LOG);
      for (let at = 1; at <= 15; at += 1) log.append("s", { stream: 0, sequence: at, text: `${at}` });
      expect(await textsOf(log, "s", 0, 0)).toEqual(["6", "7", "8", "9", "10", "11", "12", "13", "14", "15"]);
    });

    test("refuses a text above a session's share as too large, and does not store it", async () => {
      const log = here.openEventLog(LOG);
      expect([log.isTooLarge("x".repeat(100)), log.isTooLarge("x".repeat(101))]).toEqual([false, true]);
      log.append("s", { stream: 1, sequence: 1, text: "x".repeat(101) });
      expect(await textsOf(log, "s", 1, 0)).toBeUndefined();
    });

    test("does not store a text twice while it waits for the client, nor more texts than the limit", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 0, sequence: 1, text: "seen" });
      for (const [at, text] of ["seen", "a", "a", "b", "c"].entries())
        log.append("s", { stream: 0, sequence: at + 2, text }, { after: 1, most: 3 });
      expect(await textsOf(log, "s", 0, 1)).toEqual(["seen", "a", "b"]);
    });

    test("another hub recovers the events of a session, and the requests without a reply", async () => {
      const [log, other] = [here.openEventLog(LOG), there.openEventLog(LOG)];
      log.append("s", { stream: 0, sequence: 1, text: "{}" });
      log.openStream!("s", { stream: 1, sequence: 2, requests: [5, "a"] });
      log.openStream!("s", { stream: 2, sequence: 3, requests: [6] });
      log.append("s", { stream: 1, sequence: 4, text: '{"jsonrpc":"2.0","id":"a","result":{}}' });
      log.append("s", { stream: 2, sequence: 5, text: '{"jsonrpc":"2.0","id":6,"method":"elicitation/create"}' });
      await flush();
      log.release!("s");
      expect(await other.recover!("s")).toEqual({
        lastSequence: 5,
        lastStream: 2,
        unanswered: new Map([
          [1, [5]],
          [2, [6]],
        ]),
      });
      expect(await textsOf(other, "s", 0, 0)).toEqual(["{}"]);
      expect(await textsOf(other, "s", 1, 2)).toHaveLength(1);
    });

    test("another hub recovers no more events than the limits permit, and none of an ended session", async () => {
      const [log, other] = [here.openEventLog(LOG), there.openEventLog(LOG)];
      for (let at = 1; at <= 15; at += 1) log.append("s", { stream: 0, sequence: at, text: `"${at}"` });
      log.append("t", { stream: 0, sequence: 1, text: "{}" });
      log.forget("t");
      await flush();
      expect(await other.recover!("s")).toMatchObject({ lastSequence: 15 });
      expect(await textsOf(other, "s", 0, 0)).toHaveLength(10);
      expect(await other.recover!("t")).toEqual({ lastSequence: 0, lastStream: 0, unanswered: new Map() });
    });

    test("drops old events and keeps recent ones", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 1, sequence: 1, text: "a" });
      log.sweep(performance.now() + 500);
      expect(await textsOf(log, "s", 1, 0)).toEqual(["a"]);
      log.sweep(performance.now() + 1500);
      expect(await textsOf(log, "s", 1, 0)).toBeUndefined();
    });
  });
}
