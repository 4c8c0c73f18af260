// The contract of every store. Tests control the time; answers may be asynchronous.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { SessionRecord } from "./ports/session-records.ts";
import { LEASE_MS, type HubState, type Store, type StoreKind } from "./ports/store.ts";
import { STORES } from "./stores.ts";

const RECORD: SessionRecord = {
  principal: { id: "ada", rights: { allow: ["files__*"] } },
  client: { connection: "mcp-1", name: "client", era: "legacy", capabilities: { roots: {} } },
  revision: "2025-11-25",
  mode: "normal",
  subscriptions: ["file:///a"],
};
const LOG = { maxBytes: 1600, maxEvents: 10, keepMs: 1000 };
const TWO = { perMinute: 0, inFlight: 2 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe.each(Object.entries<StoreKind>(STORES))("%s", (_name, kind) => {
  const open = (): Store => kind.open({})!;

  let here: HubState;
  let there: HubState;

  beforeEach(async () => {
    const store = open();
    [here, there] = [await store.join("here"), await store.join("there")];
  });

  const isAdmitted = async (hub: HubState, bounds: typeof TWO): Promise<boolean> =>
    (await hub.limits.admit("a", bounds)).admitted;

  describe("limits", () => {
    test("S5: a minute's share may be used immediately, then one call each second", async () => {
      const take = (): Promise<boolean> => isAdmitted(here, { perMinute: 60, inFlight: 0 });
      const taken: boolean[] = [];
      for (let count = 0; count < 61; count += 1) taken.push(await take());
      expect(taken.filter(Boolean)).toHaveLength(60);
      vi.advanceTimersByTime(2000);
      expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    });

    test("a refusal reports when there will be room", async () => {
      const bounds = { perMinute: 1, inFlight: 0 };
      await here.limits.admit("a", bounds);
      const refusal = { admitted: false, reason: "rate", retryAfterMs: 60_000 };
      expect(await here.limits.admit("a", bounds)).toEqual(refusal);
    });

    test("a refused call takes neither token nor place", async () => {
      await here.limits.admit("a", TWO);
      await here.limits.admit("a", TWO);
      for (let count = 0; count < 100; count += 1)
        expect(await here.limits.admit("a", TWO)).toMatchObject({ reason: "in-flight" });
      here.limits.leave("a");
      expect(await here.limits.admit("a", TWO)).toEqual({ admitted: true });
    });

    test("calls of all hubs count together, and each key separately", async () => {
      await here.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      expect(await isAdmitted(here, TWO)).toBe(false);
      expect(await here.limits.admit("b", TWO)).toEqual({ admitted: true });
    });

    test("a hub gives back its own places only", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      here.limits.leave("a");
      expect(await isAdmitted(here, TWO)).toBe(false);
      there.limits.leave("a");
      expect(await isAdmitted(here, TWO)).toBe(true);
    });

    test("what a hub held that is heard of no more counts until its lease is over, and no longer", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      vi.advanceTimersByTime(LEASE_MS - 1);
      expect(await isAdmitted(here, TWO)).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await isAdmitted(here, TWO)).toBe(true);
      // The hub is alive, and releases calls that no longer count.
      there.limits.leave("a");
      there.limits.leave("a");
      expect(await isAdmitted(here, TWO)).toBe(true);
      expect(await isAdmitted(here, TWO)).toBe(false);
    });

    test("a lease that is renewed is not over", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      for (let at = 0; at < 3; at += 1) {
        vi.advanceTimersByTime(LEASE_MS - 1);
        there.renew();
      }
      expect(await isAdmitted(here, TWO)).toBe(false);
    });

    test("calls of a hub that left are released immediately", async () => {
      await there.limits.admit("a", TWO);
      await there.limits.admit("a", TWO);
      await there.leave();
      expect(await isAdmitted(here, TWO)).toBe(true);
    });
  });

  describe("sessions", () => {
    test("every hub finds the latest version of a record, and the hub that holds the session", async () => {
      here.sessions.put("s", RECORD);
      here.sessions.put("s", { ...RECORD, logLevel: "info" });
      const found = { hub: "here", record: { ...RECORD, logLevel: "info" } };
      expect([await here.sessions.find("s"), await there.sessions.find("s")]).toEqual([found, found]);
    });

    test("a session that is over, or never was, is not found", async () => {
      here.sessions.put("s", RECORD);
      here.sessions.remove("s");
      expect([await there.sessions.find("s"), await there.sessions.find("t")]).toEqual([undefined, undefined]);
    });

    test("a session ends with its hub's lease", async () => {
      here.sessions.put("s", RECORD);
      vi.advanceTimersByTime(LEASE_MS);
      there.renew();
      expect(await there.sessions.find("s")).toBeUndefined();
    });
  });

  describe("parked calls", () => {
    test("every hub finds who holds a call, until it is taken", async () => {
      here.parked.put("p");
      expect([await here.parked.find("p"), await there.parked.find("p")]).toEqual(["here", "here"]);
      here.parked.remove("p");
      expect(await there.parked.find("p")).toBeUndefined();
    });

    test("a parked call disappears with its hub", async () => {
      here.parked.put("p");
      await here.leave();
      expect(await there.parked.find("p")).toBeUndefined();
    });
  });

  test("a notification reaches every listening hub, including its sender, and no hub that stopped", async () => {
    const heard: string[] = [];
    const stops = [here, there].map(({ hub, notifications }) =>
      notifications.on(({ session }) => void heard.push(`${hub} ${session}`)),
    );
    here.notifications.publish({ type: "end-session", session: "s" });
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(["here s", "there s"]));
    for (const stop of stops) stop();
    here.notifications.publish({ type: "end-session", session: "t" });
    expect(heard).toHaveLength(2);
  });

  test("the secret is the same for all hubs of one store, and another one's for another", async () => {
    expect(here.secret).toHaveLength(32);
    expect(here.secret).toEqual(there.secret);
    const other = await open().join("here");
    expect(other.secret).not.toEqual(here.secret);
  });

  describe("events", () => {
    const textsOf = async (...[log, ...from]: [ReturnType<HubState["openEventLog"]>, string, number, number]) =>
      (await log.after(...from))?.map(({ text }) => text);

    test("events come back per session and stream, after the one that was seen", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 1, sequence: 1, text: "a" });
      log.append("s", { stream: 2, sequence: 2, text: "b" });
      log.append("s", { stream: 1, sequence: 3, text: "c" });
      log.append("t", { stream: 1, sequence: 1, text: "d" });
      expect(await textsOf(log, "s", 1, 1)).toEqual(["c"]);
      expect(await textsOf(log, "s", 2, 0)).toEqual(["b"]);
    });

    test("a stream that was seen to its end is known, one of which nothing is kept is not", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 1, sequence: 1, text: "a" });
      expect([await textsOf(log, "s", 1, 1), await textsOf(log, "s", 2, 0)]).toEqual([[], undefined]);
      log.forget("s");
      expect(await textsOf(log, "s", 1, 1)).toBeUndefined();
    });

    test("the oldest of a session go first", async () => {
      const log = here.openEventLog(LOG);
      for (let at = 1; at <= 15; at += 1) log.append("s", { stream: 0, sequence: at, text: `${at}` });
      expect(await textsOf(log, "s", 0, 0)).toEqual(["6", "7", "8", "9", "10", "11", "12", "13", "14", "15"]);
    });

    test("a text above a session's share is refused as too large, and is not stored", async () => {
      const log = here.openEventLog(LOG);
      expect([log.isTooLarge("x".repeat(100)), log.isTooLarge("x".repeat(101))]).toEqual([false, true]);
      log.append("s", { stream: 1, sequence: 1, text: "x".repeat(101) });
      expect(await textsOf(log, "s", 1, 0)).toBeUndefined();
    });

    test("what waits for a client already is not kept twice, nor more than it may have waiting", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 0, sequence: 1, text: "seen" });
      for (const [at, text] of ["seen", "a", "a", "b", "c"].entries())
        log.append("s", { stream: 0, sequence: at + 2, text }, { after: 1, most: 3 });
      expect(await textsOf(log, "s", 0, 1)).toEqual(["seen", "a", "b"]);
    });

    test("old events are let go of, young ones are not", async () => {
      const log = here.openEventLog(LOG);
      log.append("s", { stream: 1, sequence: 1, text: "a" });
      log.sweep(performance.now() + 500);
      expect(await textsOf(log, "s", 1, 0)).toEqual(["a"]);
      log.sweep(performance.now() + 1500);
      expect(await textsOf(log, "s", 1, 0)).toBeUndefined();
    });
  });
});
