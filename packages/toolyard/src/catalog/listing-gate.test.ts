import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { EVERYBODY } from "../core/calls/link-key.ts";
import { EMPTY_LISTING, type Listing } from "../core/sources/records.ts";
import { ListingGate } from "./listing-gate.ts";

// Only the steps of a list advance the clock, so that preparing a list takes exactly the given time.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const provider = new MemoryProvider({ id: "up" });

/** Returns a gate whose lists take `msOf` milliseconds to prepare. */
function gateOf(msOf: (listing: Listing) => number): ListingGate {
  return new ListingGate(provider, {
    link: EVERYBODY,
    maxWaitMs: 60_000,
    shape: (listing) => listing,
    *steps(listing) {
      for (let at = 0; at < listing.tools.length; at += 1) {
        vi.advanceTimersByTime(msOf(listing));
        yield;
      }
    },
    onLate: () => {},
  });
}

function offer(...names: readonly string[]): Listing {
  provider.offerTools(...names);
  return provider.answer as Listing;
}

const MANY = Array.from({ length: 20 }, (_, at) => `t${at}`);

describe("list that is prepared immediately", () => {
  test("is available without a wait", () => {
    const gate = gateOf(() => 0);
    const listing = offer(...MANY);
    expect(gate.refresh()).toBeUndefined();
    expect(gate.listing).toBe(listing);
  });
});

describe("list that takes long to prepare", () => {
  const isLong = ({ tools }: Listing): number => (tools.length > 1 ? 5 : 0);

  test("delays requests for it", async () => {
    const gate = gateOf(isLong);
    const listing = offer(...MANY);
    const [first, second] = [gate.refresh(), gate.refresh({ mayBeOld: true })];
    expect(gate.listing).toBe(EMPTY_LISTING);
    await Promise.all([first, second]);
    expect(gate.listing).toBe(listing);
  });

  test("does not delay requests for other sources, and becomes available", async () => {
    const gate = gateOf(isLong);
    const before = offer("a");
    void gate.refresh();
    const listing = offer(...MANY);
    expect(gate.refresh({ mayBeOld: true, isForOther: true })).toBeUndefined();
    expect(gate.refresh({ mayBeOld: true, isForOther: true })).toBeUndefined();
    expect(gate.listing).toBe(before);
    await gate.refresh();
    expect(gate.listing).toBe(listing);
    expect(gate.refresh()).toBeUndefined();
  });

  test("keeps the previous list and reports the reason if the preparation fails", async () => {
    const gate = new ListingGate(provider, {
      link: EVERYBODY,
      maxWaitMs: 60_000,
      shape: (listing) => listing,
      *steps({ tools }) {
        if (tools.length === 1) return;
        vi.advanceTimersByTime(100);
        yield;
        throw new Error("no such shape");
      },
      onLate: () => {},
    });
    const before = offer("a");
    void gate.refresh();
    offer(...MANY);
    await gate.refresh();
    expect(gate.listing).toBe(before);
    expect(gate.problem?.message).toContain("no such shape");
  });
});

test("waits for a provider that answers asynchronously, even if the request accepts an old list", async () => {
  const gate = gateOf(() => 0);
  provider.answer = async () => ({ ...EMPTY_LISTING, tools: [provider.tool({ name: "late" })] });
  await gate.refresh({ mayBeOld: true, isForOther: true });
  expect(gate.listing.tools.map(({ name }) => name)).toEqual(["late"]);
});

describe("call while another caller waits for a list", () => {
  /** Returns a gate with a provider that answers list requests when `answer()` is called. */
  async function asking(): Promise<{ readonly gate: ListingGate; answer(): Promise<void> }> {
    const gate = gateOf(() => 0);
    offer("a");
    void gate.refresh();
    let answer = (): void => {};
    provider.answer = () =>
      new Promise((resolve) => (answer = () => resolve({ ...EMPTY_LISTING, tools: [provider.tool({ name: "b" })] })));
    const wait = gate.refresh();
    return { gate, answer: () => (answer(), wait!) };
  }

  test("uses the last known list if the source is a server", async () => {
    const { gate, answer } = await asking();
    expect(gate.refresh({ mayBeOld: true })).toBeUndefined();
    expect(gate.listing.tools.map(({ name }) => name)).toEqual(["a"]);
    await answer();
    expect(gate.listing.tools.map(({ name }) => name)).toEqual(["b"]);
  });

  test("waits if the provider reads files for each list", async () => {
    const { gate, answer } = await asking();
    Object.defineProperty(provider, "coldStart", { value: undefined, configurable: true });
    expect(gate.refresh({ mayBeOld: true })).toBeInstanceOf(Promise);
    Reflect.deleteProperty(provider, "coldStart");
    await answer();
  });

  test("waits if the request is not a call", async () => {
    const { gate, answer } = await asking();
    expect(gate.refresh()).toBeInstanceOf(Promise);
    await answer();
  });
});
