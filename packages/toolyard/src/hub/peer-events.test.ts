import { expect, test, vi } from "vitest";
import { Emitter } from "../core/events.ts";
import type { ResourceUpdate } from "../core/sources/provider.ts";
import { MemoryStore } from "../state/memory/memory-store.ts";
import { createSharing } from "../state/memory/sharing.ts";
import { PeerEvents } from "./peer-events.ts";

function open(store: MemoryStore, hub: string) {
  const updates: ResourceUpdate[] = [];
  const lines: unknown[] = [];
  const resourceUpdated = new Emitter<ResourceUpdate>();
  resourceUpdated.on((update) => void updates.push(update));
  const logger = { warning: (_message: string, facts?: object): void => void lines.push(facts) };
  const peers = new PeerEvents({ state: store.join(hub), events: { resourceUpdated }, logger });
  return { peers, resourceUpdated, updates, lines };
}

function openTwo() {
  const store = new MemoryStore(createSharing());
  return [open(store, "here"), open(store, "there")] as const;
}

test("passes an update of a resource to the other hub once, and not back", () => {
  const [here, there] = openTwo();
  const update = { uri: "test://a", params: { uri: "test://a" } };
  here.resourceUpdated.emit(update);
  expect([here.updates, there.updates]).toEqual([[update], [update]]);
});

test("keeps an update for one principal on its hub", () => {
  const [here, there] = openTwo();
  here.resourceUpdated.emit({ uri: "test://a", params: {}, principal: "ada" });
  expect(there.updates).toEqual([]);
});

test("passes an update to the other hub, and combines the updates of the next second into one", () => {
  vi.useFakeTimers();
  const [here, there] = openTwo();
  const update = { uri: "test://a", params: {} };
  there.resourceUpdated.emit(update);
  for (let at = 0; at < 3; at += 1) here.resourceUpdated.emit(update);
  expect(there.updates).toHaveLength(1);
  vi.advanceTimersByTime(1000);
  expect(there.updates).toHaveLength(2);
  vi.advanceTimersByTime(1000);
  here.resourceUpdated.emit(update);
  expect(there.updates).toHaveLength(3);
  vi.useRealTimers();
});

const METRICS = { listen: "127.0.0.1:9464", token: "t" };
const BASE = {
  server: { port: 1 },
  store: { url: "redis://a" },
  limits: { in_flight: 5 },
  telemetry: { prometheus: METRICS },
};

test.each([
  ["another limit", { ...BASE, limits: { in_flight: 6 } }],
  ["another option of a shared section", { ...BASE, server: { port: 1, era: "legacy" } }],
  ["another option of the metrics", { ...BASE, telemetry: { prometheus: { ...METRICS, token: "u" } } }],
  ["a further section", { ...BASE, rest: { enabled: false } }],
])("both hubs report a hub with %s once", (_what, other) => {
  const [here, there] = openTwo();
  here.peers.configured(BASE);
  there.peers.configured(other);
  there.peers.configured(other);
  expect([here.lines, there.lines]).toEqual([[{ hub: "there" }], [{ hub: "here" }]]);
});

test.each([
  ["another port and address", { ...BASE, server: { port: 2, host: "0.0.0.0" } }],
  ["another advertised address", { ...BASE, store: { url: "redis://a", advertise: "http://b" } }],
  ["another address of the metrics", { ...BASE, telemetry: { prometheus: { ...METRICS, listen: "9465" } } }],
  ["another log", { ...BASE, logging: { level: "debug" } }],
  [
    "members in another order",
    { telemetry: BASE.telemetry, limits: BASE.limits, store: BASE.store, server: BASE.server },
  ],
])("no hub reports a hub with %s", (_what, other) => {
  const [here, there] = openTwo();
  here.peers.configured(BASE);
  there.peers.configured(other);
  expect([here.lines, there.lines]).toEqual([[], []]);
});
