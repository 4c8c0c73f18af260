import { expect, test } from "vitest";
import { RunSlots } from "./run-slots.ts";

const never = new AbortController().signal;

test("slots go to those who wait, in their order; one more than may wait is refused at once", async () => {
  const slots = new RunSlots(1, 2);
  expect(await slots.take(1000, never)).toBe(true);
  const order: string[] = [];
  const first = slots.take(1000, never).then((got) => order.push(`first ${got}`));
  const second = slots.take(1000, never).then((got) => order.push(`second ${got}`));
  expect(await slots.take(1000, never)).toBe(false);
  slots.give();
  await first;
  slots.give();
  await second;
  expect(order).toEqual(["first true", "second true"]);
});

test("who leaves, and who waited long enough, holds no place in the line", async () => {
  const slots = new RunSlots(1, 1);
  await slots.take(1000, never);
  const leaving = new AbortController();
  const left = slots.take(1000, leaving.signal);
  leaving.abort();
  expect(await left).toBe(false);
  expect(await slots.take(1, never)).toBe(false);
  const next = slots.take(1000, never);
  slots.give();
  expect(await next).toBe(true);
  slots.give();
  expect(await slots.take(1000, AbortSignal.abort())).toBe(false);
  expect(await slots.take(1000, never)).toBe(true);
});
