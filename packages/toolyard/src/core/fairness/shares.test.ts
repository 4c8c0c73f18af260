import { expect, test } from "vitest";
import { createRandom } from "../../../../../test/support/random.ts";
import { Shares, type Holder } from "./shares.ts";

interface Place {
  readonly name: string;
  readonly holder: Holder;
}

const BY_HOLDER = { holder: (place: Place): Holder => place.holder };

function placesOf(...names: string[]): { shares: Shares; places: Place[] } {
  const shares = new Shares();
  const places = names.map((name) => {
    const [principal, connection] = name.split(" ")[0]!.split("/");
    const holder = { principal: principal!, ...(connection === undefined ? {} : { connection }) };
    shares.add(holder);
    return { name, holder };
  });
  return { shares, places };
}

test("the holder with the most places gives up its first place", () => {
  const { shares, places } = placesOf("b", "a 1", "a 2", "a 3", "c 1", "c 2");
  expect(shares.debtorTo({ principal: "d" }, places, BY_HOLDER)?.name).toBe("a 1");
});

test("a holder gives up no place to a holder that would then have as many places", () => {
  const { shares, places } = placesOf("a", "a", "b");
  expect(shares.debtorTo({ principal: "b" }, places, BY_HOLDER)).toBeUndefined();
  expect(shares.debtorTo({ principal: "c" }, places, BY_HOLDER)?.name).toBe("a");
});

test("within one principal, the connection with the most places gives up its first place", () => {
  const { shares, places } = placesOf("a/1", "a/1", "a/1", "a/2");
  expect(shares.debtorTo({ principal: "a", connection: "2" }, places, BY_HOLDER)?.name).toBe("a/1");
  expect(shares.debtorTo({ principal: "a", connection: "1" }, places, BY_HOLDER)).toBeUndefined();
});

test("many connections do not give one principal more than its share", () => {
  const { shares, places } = placesOf("a/1", "a/2", "a/3", "b", "b");
  expect(shares.debtorTo({ principal: "a", connection: "4" }, places, BY_HOLDER)).toBeUndefined();
});

test("an idle place is given up only for its own holder while every holder has a place", () => {
  const { shares, places } = placesOf("a 1", "a 2", "b");
  const idle = { ...BY_HOLDER, isIdle: true };
  expect(shares.debtorTo({ principal: "a" }, places, idle)?.name).toBe("a 1");
  expect(shares.debtorTo({ principal: "b" }, places, idle)?.name).toBe("b");
});

test("with more principals than places, a holder without a place gets the first idle place", () => {
  const { shares, places } = placesOf("a", "b");
  expect(shares.debtorTo({ principal: "c" }, places, BY_HOLDER)).toBeUndefined();
  expect(shares.debtorTo({ principal: "c" }, places, { ...BY_HOLDER, isIdle: true })?.name).toBe("a");
});

test("a returned place does not count, and returning a place that is not held changes nothing", () => {
  const { shares } = placesOf("a/1", "a/1");
  for (let time = 0; time < 3; time += 1) shares.remove({ principal: "a", connection: "1" });
  shares.remove({ principal: "b" });
  expect([shares.of("a"), shares.of("b"), shares.principals]).toEqual([0, 0, 0]);
});

test("a new holder within its share gets a place, and a holder within its share loses none to it", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createRandom(seed);
    const names = ["a", "b", "c", "d", "e"].slice(0, 2 + random.below(4));
    const places = placesOf(...Array.from({ length: 4 + random.below(30) }, () => random.pick(names)));
    const newcomer = { principal: random.pick([...names, "new"]) };
    const wanting = new Set([...places.places.map(({ holder }) => holder.principal), newcomer.principal]).size;
    const share = Math.floor(places.places.length / wanting);
    const debtor = places.shares.debtorTo(newcomer, places.places, BY_HOLDER);
    if (places.shares.of(newcomer.principal) < share) expect(debtor, `seed ${seed}`).toBeDefined();
    if (debtor) expect(places.shares.of(debtor.holder.principal), `seed ${seed}`).toBeGreaterThan(share);
  }
});
