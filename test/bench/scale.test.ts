// Simulation of large installations: bench/scale/simulate.mjs.
import { expect, test } from "vitest";
import { LOAD, saturation, simulate, usage } from "../../bench/scale/simulate.mjs";

const OPTIONS = { sample: 2000, seconds: 120 };
const COSTS = {
  storeUs: {
    admit: 5,
    leave: 5,
    find: 5,
    append: 5,
    put: 5,
    remove: 5,
    lease: 5,
    renew: 5,
    claim: 5,
    publish: 5,
    delivery: 5,
  },
  hubUs: { call: 50, relayed: 75, command: 10, delivery: 10 },
  bytes: { session: 1000, events: 1000, limit: 100, hubSession: 4000 },
  relayHeadBytes: 600,
};

test("gives the same result for the same seed, and simulates as many calls as the load states", () => {
  const result = simulate(10, OPTIONS);
  expect(simulate(10, OPTIONS)).toEqual(result);
  const expected = LOAD.sessions / LOAD.callEvery;
  expect(result.calls).toBeGreaterThan(expected * 0.95);
  expect(result.calls).toBeLessThan(expected * 1.05);
});

test("relays the legacy calls that reach another hub, and no call of a single hub", () => {
  const legacyCalls = (LOAD.sessions * LOAD.legacyShare) / LOAD.callEvery;
  expect(simulate(1, OPTIONS).relayed).toBe(0);
  const { relayed } = simulate(10, OPTIONS);
  expect(relayed).toBeGreaterThan(legacyCalls * 0.85);
  expect(relayed).toBeLessThan(legacyCalls * 0.98);
});

test("needs no command of the store for modern calls without limits and server requests", () => {
  const load = { ...LOAD, legacyShare: 0, limitedShare: 0, askingShare: 0 };
  const { commands } = simulate(10, { ...OPTIONS, load });
  expect(commands).toMatchObject({ admit: 0, leave: 0, find: 0, append: 0, put: 0, remove: 0, renew: 0 });
});

test.each([
  ["the store's core", { storeUs: { ...COSTS.storeUs, admit: 500 } }, "storeCpu"],
  ["the hub's core", { hubUs: { ...COSTS.hubUs, call: 5000 } }, "hubCpu"],
])("names %s as the first bottleneck if its operations are expensive", (_, change, resource) => {
  const load = { ...LOAD, listeningShare: 0 };
  const used = usage(simulate(10, { ...OPTIONS, load }), { ...COSTS, ...change }, load);
  expect(saturation(used)[0]).toMatchObject({ name: resource, isFull: true });
});
