import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Canceller } from "../calls/cancellation.ts";
import { createRandom } from "../../../../../test/support/random.ts";
import { FairLine } from "./fair-line.ts";
import type { Holder } from "./shares.ts";

const A = { principal: "a" };
const B = { principal: "b" };
const never = { cancellation: new Canceller() };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

interface Entry {
  readonly holder?: Holder;
  readonly cancellation?: Canceller;
  readonly waitMs?: number;
}

/** Requests a place in the line, and records in `order` whether the entry got it. */
function enter(line: FairLine, order: string[], name: string, { holder = A, ...wait }: Entry = {}): Promise<unknown> {
  return line.enter(holder, { ...never, ...wait }).then((isIn) => order.push(`${name} ${isIn ? "in" : "out"}`));
}

test("gives places to waiting entries in order, and refuses an entry over the limit immediately", async () => {
  const line = new FairLine({ places: 1, waiting: 2 });
  const order: string[] = [];
  await enter(line, order, "0");
  const waiting = [enter(line, order, "1"), enter(line, order, "2")];
  await enter(line, order, "3");
  line.leave(A);
  await waiting[0];
  line.leave(A);
  await waiting[1];
  expect(order).toEqual(["0 in", "3 out", "1 in", "2 in"]);
});

test("lets a single principal take all places and the whole line", async () => {
  const line = new FairLine({ places: 3, waiting: 2 });
  const order: string[] = [];
  const all = Array.from({ length: 5 }, (_, at) => enter(line, order, String(at)));
  await Promise.all(all.slice(0, 3));
  for (let time = 0; time < 2; time += 1) line.leave(A);
  await Promise.all(all);
  expect(order).toEqual(["0 in", "1 in", "2 in", "3 in", "4 in"]);
});

test("in a full line, a new entry displaces the last entry of another principal, and is next", async () => {
  const line = new FairLine({ places: 2, waiting: 3 });
  const order: string[] = [];
  const flood = Array.from({ length: 5 }, (_, at) => enter(line, order, `a${at}`));
  const newcomer = enter(line, order, "b", { holder: B });
  await flood[4];
  line.leave(A);
  await newcomer;
  expect(order).toEqual(["a0 in", "a1 in", "a4 out", "b in"]);
});

test("alternates between waiting principals, for any number of their entries", async () => {
  const line = new FairLine({ places: 1, waiting: 10 });
  const order: string[] = [];
  await enter(line, order, "a");
  const waiting = ["a", "a", "a"].map((name) => enter(line, order, name));
  waiting.push(enter(line, order, "b", { holder: B }));
  line.leave(A);
  await waiting[3];
  line.leave(B);
  await waiting[0];
  expect(order).toEqual(["a in", "b in", "a in"]);
});

test("alternates between the connections of one principal", async () => {
  const line = new FairLine({ places: 1, waiting: 1 });
  const order: string[] = [];
  const one = { principal: "a", connection: "1" };
  const two = { principal: "a", connection: "2" };
  await enter(line, order, "one", { holder: one });
  const waiting = [enter(line, order, "one more", { holder: one }), enter(line, order, "two", { holder: two })];
  await waiting[0];
  line.leave(one);
  await waiting[1];
  expect(order).toEqual(["one in", "one more out", "two in"]);
});

test("a cancelled or expired entry holds no place in the line", async () => {
  const line = new FairLine({ places: 1, waiting: 1 });
  const order: string[] = [];
  await enter(line, order, "0");
  const leaving = new Canceller();
  const left = enter(line, order, "left", { cancellation: leaving });
  leaving.abort("gone");
  await left;
  const late = enter(line, order, "late", { waitMs: 1000 });
  await vi.advanceTimersByTimeAsync(1000);
  await late;
  const next = enter(line, order, "next");
  line.leave(A);
  await next;
  line.leave(A);
  expect(line.isEmpty).toBe(true);
  expect(order).toEqual(["0 in", "left out", "late out", "next in"]);
});

test("an entry waits longer for a place if its principal is below its share", async () => {
  const line = new FairLine({ places: 2, waiting: 5 });
  const order: string[] = [];
  for (const name of ["a0", "a1"]) await enter(line, order, name);
  const wait = { waitMs: 1000, owedWaitMs: 5000 };
  const waiting = [enter(line, order, "a2", wait), enter(line, order, "b", { holder: B, ...wait })];
  await vi.advanceTimersByTimeAsync(4999);
  expect(order.slice(2)).toEqual(["a2 out"]);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(waiting);
  expect(order.slice(2)).toEqual(["a2 out", "b out"]);
});

test("a closed line rejects waiting and new entries", async () => {
  const line = new FairLine({ places: 1, waiting: 1 });
  const order: string[] = [];
  await enter(line, order, "in");
  const waiting = enter(line, order, "waiting");
  line.close();
  await waiting;
  line.leave(A);
  await enter(line, order, "late");
  expect(order).toEqual(["in in", "waiting out", "late out"]);
});

const among = (principals: number, places: number): FairLine => new FairLine({ places, waiting: 1000, principals });

/** Requests `tries` places for one principal. Returns the number of places that it gets immediately. */
async function inside(line: FairLine, principal: string, tries: number): Promise<number> {
  let count = 0;
  for (let at = 0; at < tries; at += 1) void line.enter({ principal }, never).then(() => (count += 1));
  await vi.advanceTimersByTimeAsync(0);
  return count;
}

test.each([
  // [places, known principals, places that the first principal gets]
  [4, 1, 4],
  [4, 2, 3],
  [4, 3, 2],
  [4, 50, 2],
  [3, 2, 2],
  [3, 9, 2],
  [2, 2, 1],
  [1, 2, 1],
  [64, 2, 63],
  [64, 100, 32],
])("with %i places and %i principals, the first principal gets %i places", async (places, principals, most) => {
  expect(await inside(among(principals, places), "a", places * 2)).toBe(most);
});

test("a principal without a place gets one immediately while another one waits for more", async () => {
  const line = among(3, 4);
  expect(await inside(line, "a", 10)).toBe(2);
  expect(await inside(line, "b", 10)).toBe(1);
  expect(await inside(line, "c", 10)).toBe(1);
});

test("keeps a place free for a principal from its first entry on", async () => {
  const line = among(1, 4);
  expect(await inside(line, "a", 3)).toBe(3);
  expect(await inside(line, "b", 1)).toBe(1);
  line.leave(B);
  // From here on, one place stays free for b.
  expect(await inside(line, "a", 1)).toBe(0);
  expect(await inside(line, "b", 1)).toBe(1);
});

test("a principal gets a further place if each of the others has its share", async () => {
  const line = among(2, 3);
  const order: string[] = [];
  for (const name of ["a0", "a1"]) await enter(line, order, name);
  const third = enter(line, order, "a2");
  await enter(line, order, "b", { holder: B });
  line.leave(A);
  await third;
  expect(order).toEqual(["a0 in", "a1 in", "b in", "a2 in"]);
});

test("a line with a lowered limit admits no entry until it is below the limit", async () => {
  const line = new FairLine({ places: 2, waiting: 2 });
  const order: string[] = [];
  for (const name of ["0", "1"]) await enter(line, order, name);
  const waiting = enter(line, order, "2");
  line.places = 1;
  line.leave(A);
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["0 in", "1 in"]);
  line.leave(A);
  await waiting;
  expect(order).toEqual(["0 in", "1 in", "2 in"]);
});

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  "gives each principal its share of the places, for any sequence of entries (seed %i)",
  async (seed) => {
    const random = createRandom(seed);
    const places = 1 + random.below(8);
    const names = Array.from({ length: 1 + random.below(6) }, (_, at) => `p${at}`);
    const line = among(names.length, places);
    const held = new Map(names.map((name) => [name, 0]));
    const waiting = new Map(names.map((name) => [name, 0]));
    const change = (map: Map<string, number>, name: string, by: number): void =>
      void map.set(name, map.get(name)! + by);
    const total = (): number => Array.from(held.values()).reduce((sum, one) => sum + one, 0);
    for (let step = 0; step < 300; step += 1) {
      const name = random.pick(names);
      if (random.below(3) > 0) {
        change(waiting, name, 1);
        void line.enter({ principal: name }, never).then(() => (change(waiting, name, -1), change(held, name, 1)));
      } else if (held.get(name)! > 0) {
        change(held, name, -1);
        line.leave({ principal: name });
      }
      await vi.advanceTimersByTimeAsync(0);
      expect(total()).toBeLessThanOrEqual(places);
      const kept = Math.min(names.filter((one) => held.get(one) === 0).length, Math.floor(places / 2));
      // Free places are kept only for principals without a place, and no such principal waits while one is free.
      if (total() < places) expect(names.filter((one) => waiting.get(one)! > 0 && held.get(one) === 0)).toEqual([]);
      if (names.some((one) => waiting.get(one)! > 0)) expect(places - total()).toBeLessThanOrEqual(kept);
    }
    for (const name of names) for (let left = held.get(name)!; left > 0; left -= 1) line.leave({ principal: name });
  },
);
