import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createRandom } from "../../../../../test/support/random.ts";
import { BodyBudget, type ArrivingBytes } from "./body-budget.ts";

const LIMITS = { maxBodyBytes: 100, maxArrivingBytes: 1000 };

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

describe("BodyBudget", () => {
  const open = (budget: BodyBudget, holder: string, size = 0) => {
    const released = vi.fn();
    const arriving = budget.open(holder, released);
    arriving.resize(size);
    return { arriving, released };
  };

  test("gives one holder at most half of the total", () => {
    const budget = new BodyBudget(LIMITS);
    const bodies = Array.from({ length: 5 }, () => open(budget, "ada", 100));
    expect(bodies.filter(({ released }) => released.mock.calls.length > 0)).toEqual([]);
    open(budget, "ada", 100);
    expect(budget.heldBytes).toBe(500);
  });

  test("always has room for one body of the maximum size", () => {
    const budget = new BodyBudget({ maxBodyBytes: 100, maxArrivingBytes: 1 });
    expect(open(budget, "ada", 100).released).not.toHaveBeenCalled();
    expect(open(budget, "bob", 100).released).not.toHaveBeenCalled();
  });

  test("releases the body of a sender that has stopped before the body of one that continues", () => {
    const budget = new BodyBudget(LIMITS);
    const stopped = open(budget, "ada", 90);
    const slow = open(budget, "ada", 90);
    const steady = open(budget, "ada", 90);
    vi.advanceTimersByTime(5000);
    slow.arriving.resize(91);
    steady.arriving.resize(100);
    for (let at = 0; at < 3; at += 1) open(budget, "ada", 80);
    expect([stopped, slow, steady].map(({ released }) => released.mock.calls.length)).toEqual([1, 0, 0]);
    open(budget, "ada", 80);
    expect([stopped, slow, steady].map(({ released }) => released.mock.calls.length)).toEqual([1, 1, 0]);
  });

  test("releases an older, slower body before a body that has just started", () => {
    const budget = new BodyBudget(LIMITS);
    const old = Array.from({ length: 5 }, () => open(budget, "ada", 99));
    vi.advanceTimersByTime(3000);
    const young = open(budget, "ada", 10);
    expect(young.released).not.toHaveBeenCalled();
    expect(old.filter(({ released }) => released.mock.calls.length > 0)).toHaveLength(1);
  });

  test("does not count bytes of a body that is closed or released", () => {
    const budget = new BodyBudget(LIMITS);
    const { arriving } = open(budget, "ada", 100);
    arriving.close();
    arriving.close();
    arriving.resize(50);
    const released = open(budget, "ada", 400);
    open(budget, "ada", 400);
    released.arriving.resize(450);
    expect(budget.heldBytes).toBe(400);
  });

  test.each([1, 2, 3, 4, 5, 6])(
    "keeps its limits, and never releases the body of a holder within its share (seed %i)",
    (seed) => {
      const { below, pick } = createRandom(seed);
      const budget = new BodyBudget(LIMITS);
      const holders = ["ada", "bob", "cyd", "dan"].slice(0, 1 + below(4));
      const living = new Map<ArrivingBytes, string>();
      const heldBy = (holder: string): number =>
        Array.from(living, ([one, whose]) => (whose === holder ? one.size : 0)).reduce((sum, size) => sum + size, 0);
      const lost: string[] = [];
      let before = new Map<string, number>();
      for (let step = 0; step < 500; step += 1) {
        vi.advanceTimersByTime(below(400));
        // The first holder sends most of the bytes, so that it exceeds its share.
        const holder = below(3) > 0 ? holders[0]! : pick(holders);
        const own = Array.from(living).filter(([, whose]) => whose === holder);
        let arriving = own.length > 0 && below(3) > 0 ? pick(own)[0] : undefined;
        if (arriving && below(6) === 0) {
          living.delete(arriving);
          arriving.close();
          continue;
        }
        if (!arriving) {
          const made: ArrivingBytes = budget.open(holder, () => {
            lost.push(`${holder} ${before.get(holder)}`);
            living.delete(made);
          });
          arriving = made;
          living.set(made, holder);
        }
        const growth = Math.min(below(40), LIMITS.maxBodyBytes - arriving.size);
        before = new Map(holders.map((one) => [one, heldBy(one) + (one === holder ? growth : 0)]));
        const share = LIMITS.maxArrivingBytes / new Set(living.values()).size;
        lost.length = 0;
        arriving.resize(arriving.size + growth);
        expect(budget.heldBytes).toBeLessThanOrEqual(LIMITS.maxArrivingBytes);
        expect(heldBy(holder)).toBeLessThanOrEqual(LIMITS.maxArrivingBytes / 2);
        const robbed = lost.filter(
          (line) => Number(line.split(" ")[1]) <= Math.min(share, LIMITS.maxArrivingBytes / 2),
        );
        expect(robbed).toEqual([]);
      }
    },
  );
});
