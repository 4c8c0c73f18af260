import { expect, test } from "vitest";
import { FailError } from "../core/errors.ts";
import type { ClientRecord } from "./records.ts";
import { SignInStarts } from "./sign-in-starts.ts";

const never = new AbortController().signal;

/** Creates starts with a test clock, in milliseconds. */
function startsAt(clock: { now: number }): SignInStarts {
  return new SignInStarts({ label: "far", now: () => clock.now });
}

const registered = (id: string): ClientRecord => ({
  issuer: "https://a.example",
  id,
  method: "none",
  from: "registered",
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (error instanceof FailError ? error.failure : error),
  );
}

test("refuses the eleventh start of a principal within a minute, and no start of another principal", async () => {
  const clock = { now: 0 };
  const starts = startsAt(clock);
  for (let at = 0; at < 10; at += 1) (await starts.begin("ann", never))();
  clock.now = 20_000;
  expect(await failureOf(starts.begin("ann", never))).toMatchObject({
    kind: "limited",
    retryAfterMs: 40_000,
    message: expect.stringMatching(/^10 sign-ins to `far` were started within 60 s/),
  });
  (await starts.begin("ben", never))();
  clock.now = 60_001;
  (await starts.begin("ann", never))();
});

test("prepares seven sign-ins of one principal at a time, and the first of another one concurrently", async () => {
  const starts = startsAt({ now: 0 });
  const begun: string[] = [];
  const begin = (name: string): Promise<() => void> =>
    starts.begin(name, never).then((prepared) => (begun.push(name), prepared));
  const all = Array.from({ length: 10 }, () => begin("ann"));
  // Calls that are still queued at the end of the test are refused later.
  void Promise.allSettled(all);
  const first = await all[0]!;
  const ben = await begin("ben");
  expect(begun).toEqual([...Array.from({ length: 7 }, () => "ann"), "ben"]);
  first();
  // A second call has no effect.
  first();
  ben();
  await all[7]!;
  expect(begun.filter((name) => name === "ann")).toHaveLength(8);
});

test("refuses a queued start if its caller disconnects", async () => {
  const starts = startsAt({ now: 0 });
  for (let at = 0; at < 8; at += 1) void failureOf(starts.begin(`p${at}`, never));
  const leaving = new AbortController();
  const waiting = failureOf(starts.begin("late", leaving.signal));
  leaving.abort();
  expect(await waiting).toMatchObject({ kind: "limited" });
});

test("registers a client once for concurrent requests, and for requests within ten minutes", async () => {
  const clock = { now: 0 };
  const starts = startsAt(clock);
  let count = 0;
  const register = async (recent?: ClientRecord): Promise<ClientRecord> =>
    recent ?? registered(`client-${(count += 1)}`);
  const clients = await Promise.all(Array.from({ length: 50 }, () => starts.client("key", register)));
  clock.now = 599_999;
  clients.push(await starts.client("key", register));
  expect(new Set(clients.map(({ id }) => id))).toEqual(new Set(["client-1"]));
  clock.now = 600_001;
  expect((await starts.client("key", register)).id).toBe("client-2");
});

test("registers clients for different keys one after another", async () => {
  const starts = startsAt({ now: 0 });
  const order: string[] = [];
  const register = (key: string) => async (): Promise<ClientRecord> => {
    order.push(`begin ${key}`);
    await Promise.resolve();
    order.push(`end ${key}`);
    return registered(key);
  };
  await Promise.all(["a", "b", "c"].map((key) => starts.client(key, register(key))));
  expect(order).toEqual(["begin a", "end a", "begin b", "end b", "begin c", "end c"]);
});

test("rejects all callers of a failed registration, and tries again for the next caller", async () => {
  const starts = startsAt({ now: 0 });
  let count = 0;
  const register = async (): Promise<ClientRecord> => {
    count += 1;
    if (count === 1) throw new Error("away");
    return registered("client");
  };
  const both = await Promise.allSettled([starts.client("key", register), starts.client("key", register)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await starts.client("key", register)).id).toBe("client");
});

test("does not store a failed registration", async () => {
  const starts = startsAt({ now: 0 });
  const seen: unknown[] = [];
  const given = async (recent?: ClientRecord): Promise<ClientRecord> => {
    seen.push(recent);
    return { ...registered("own"), from: "given" };
  };
  await starts.client("key", given);
  await starts.client("key", given);
  expect(seen).toEqual([undefined, undefined]);
});
