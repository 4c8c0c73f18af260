import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lines } from "../../../../../test/fixtures/upstreams/harness.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Connection } from "../connection/connection.ts";
import { ListingTracker } from "./listing-tracker.ts";
import type { ServerListing } from "./listing.ts";
import { readOpening } from "../connection/server-opening.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

interface Stage {
  readonly supervisor: ListingTracker;
  readonly lines: Lines;
  /** Names of the tools that the server lists. */
  tools: string[];
  hangs: boolean;
  ttlMs: number | undefined;
  callsInFlight: number;
  heardAt: number;
  reads: number;
  changes: string[][];
}

/** Returns a tracker after the first reading of its server. */
async function start(): Promise<Stage> {
  const lines = new Lines();
  const stage = { tools: ["one"], hangs: false, ttlMs: undefined, callsInFlight: 0, heardAt: 0, reads: 0 };
  const request = (_method: string, _params: JsonObject, signal?: AbortSignal): Promise<JsonObject> => {
    result.reads += 1;
    const tools = result.tools.map((name) => ({ name, inputSchema: { type: "object" } }));
    if (!result.hangs) return Promise.resolve({ tools, ...(result.ttlMs !== undefined && { ttlMs: result.ttlMs }) });
    return new Promise((_resolve, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
    );
  };
  const opening = readOpening({ capabilities: { tools: { listChanged: true } } }, {});
  const era = { name: "legacy", ...opening };
  const connection = {
    era,
    request,
    closed: undefined,
    mirrorsParams: false,
    get callsInFlight() {
      return result.callsInFlight;
    },
    get heardAt() {
      return result.heardAt;
    },
  } as unknown as Connection;
  const changes: string[][] = [];
  const supervisor = new ListingTracker({
    connection: () => connection,
    wake: () => {},
    isUp: () => true,
    onChanged: (announced) => void changes.push(Array.from(announced)),
    save: () => {},
    coldWaitMs: undefined,
    logger: lines,
  });
  const result: Stage = Object.assign(stage, { supervisor, lines, changes });
  supervisor.open(Promise.resolve(undefined));
  supervisor.connected();
  await read(result, 1);
  changes.splice(0);
  return result;
}

/** Waits until the server was read this many times and the result was stored. */
async function read(stage: Stage, count: number): Promise<void> {
  while (stage.reads < count) await turn();
  for (let more = 0; more < 10; more += 1) await turn();
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const namesOf = ({ tools }: ServerListing): unknown[] => tools.map(({ name }) => name);

test("waits once, for at most 250 ms, for a server that announced a change and hangs", async () => {
  const stage = await start();
  stage.hangs = true;
  stage.supervisor.outdated("tools");
  let listed: unknown;
  void Promise.resolve(stage.supervisor.listing()).then((listing) => (listed = namesOf(listing)));
  await vi.advanceTimersByTimeAsync(249);
  expect(listed).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(listed).toEqual(["one"]);
  expect(stage.supervisor.listing()).not.toBeInstanceOf(Promise);
  stage.supervisor.close();
});

test.each<[string, boolean, boolean]>([
  ["a server that answers", false, false],
  ["a server that hangs", true, false],
  ["a reading under way", false, true],
])("does not wait for an announced change of %s to call a listed tool or resource", async (_what, hangs, isReading) => {
  const stage = await start();
  stage.hangs = hangs;
  stage.tools = ["one", "two"];
  stage.supervisor.outdated("tools");
  if (isReading) void stage.supervisor.refresh();
  const listing = stage.supervisor.listing({ mayBeOld: true });
  expect(listing).not.toBeInstanceOf(Promise);
  expect(namesOf(listing as ServerListing)).toEqual(["one"]);
  expect(stage.supervisor.listing()).toBeInstanceOf(Promise);
  stage.supervisor.close();
});

test("waits for the new list of a server that answers", async () => {
  const stage = await start();
  stage.tools = ["one", "two"];
  stage.supervisor.outdated("tools");
  const listing = stage.supervisor.listing();
  expect(listing).toBeInstanceOf(Promise);
  expect(namesOf(await listing)).toEqual(["one", "two"]);
  expect(stage.changes).toEqual([["tools"]]);
  stage.supervisor.close();
});

test("does not wait for a silent server with a pending call", async () => {
  const stage = await start();
  [stage.callsInFlight, stage.heardAt] = [1, performance.now() - 251];
  stage.hangs = true;
  stage.supervisor.outdated("tools");
  expect(stage.supervisor.listing()).not.toBeInstanceOf(Promise);
  stage.heardAt = performance.now();
  expect(stage.supervisor.listing()).toBeInstanceOf(Promise);
  stage.supervisor.close();
});

test("waits at most 250 ms for expired lists of a server that hangs", async () => {
  const stage = await start();
  stage.ttlMs = 5000;
  await stage.supervisor.refresh();
  await vi.advanceTimersByTimeAsync(5000);
  stage.hangs = true;
  expect(stage.supervisor.listing({ mayBeOld: true })).not.toBeInstanceOf(Promise);
  let isListed = false;
  void Promise.resolve(stage.supervisor.listing()).then(() => (isListed = true));
  await vi.advanceTimersByTimeAsync(250);
  expect(isListed).toBe(true);
  expect(stage.supervisor.listing()).not.toBeInstanceOf(Promise);
  stage.supervisor.close();
});

test("reports an announced change even if the list is equal", async () => {
  const stage = await start();
  const before = stage.supervisor.listing();
  stage.supervisor.outdated("prompts");
  await vi.advanceTimersByTimeAsync(100);
  await read(stage, 2);
  expect(stage.changes).toEqual([["prompts"]]);
  expect(stage.supervisor.listing()).toBe(before);
  stage.supervisor.close();
});

test("does not report a lost stream if the lists are equal afterwards", async () => {
  const stage = await start();
  stage.supervisor.outdated("all");
  await vi.advanceTimersByTimeAsync(100);
  await read(stage, 2);
  expect(stage.changes).toEqual([]);
  stage.supervisor.close();
});

test("retries, at growing intervals, lists that could not be read, and logs one line", async () => {
  const stage = await start();
  stage.hangs = true;
  const reading = stage.supervisor.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  await reading;
  expect(stage.supervisor.failure?.kind).toBe("timeout");
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(stage.reads).toBeGreaterThan(4);
  expect(stage.reads).toBeLessThan(10);
  expect(stage.lines.all.filter(({ message }) => message.includes("could not be read"))).toHaveLength(1);
  stage.hangs = false;
  const count = stage.reads;
  await vi.advanceTimersByTimeAsync(120_000);
  await read(stage, count + 1);
  expect(stage.supervisor.failure).toBeUndefined();
  stage.supervisor.close();
});

test("reports an announced change when a later reading succeeds after a failed one", async () => {
  const stage = await start();
  stage.hangs = true;
  stage.supervisor.outdated("tools");
  await vi.advanceTimersByTimeAsync(60_100);
  stage.hangs = false;
  await vi.advanceTimersByTimeAsync(5000);
  await read(stage, 3);
  expect(stage.changes).toEqual([["tools"]]);
  stage.supervisor.close();
});
