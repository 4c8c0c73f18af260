import { expect, test } from "vitest";
import { createRandom } from "../../../../../test/support/random.ts";
import { ReceivedNumbers } from "./received-numbers.ts";

test.each([1, 2, 3])("accepts each number once in any order within the window (seed %i)", (seed) => {
  const random = createRandom(seed);
  const received = new ReceivedNumbers(1000);
  const waiting: number[] = [];
  for (let number = 1; number <= 70_000; number += 1) {
    waiting.push(number);
    if (waiting.length < 1000) continue;
    const [next] = waiting.splice(random.below(waiting.length), 1);
    expect(received.add("a", next!)).toBe(true);
    if (next! % 100 === 0) expect(received.add("a", next!)).toBe(false);
  }
});

test("refuses a number that is older than the window, also after a jump", () => {
  const received = new ReceivedNumbers(1000);
  expect(received.add("a", 1_000_000)).toBe(true);
  expect(received.add("a", 1_000_000 - 65_536)).toBe(false);
  expect(received.add("a", 1_000_000 - 65_535)).toBe(true);
  expect(received.add("a", 1_000_000 - 65_535)).toBe(false);
  expect(received.add("b", 1)).toBe(true);
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 53])("refuses the number %d", (number) => {
  expect(new ReceivedNumbers(1000).add("a", number)).toBe(false);
});

test("forgets senders that send nothing if there are too many", () => {
  const received = new ReceivedNumbers(-1);
  for (let sender = 0; sender < 10_000; sender += 1) expect(received.add(`s${sender}`, 1)).toBe(true);
});
