import { expect, test } from "vitest";
import { POLL_RULE } from "../../state/ports/auth-state.ts";
import { DevicePolls } from "./device-polls.ts";

function pollsAt() {
  const clock = { now: 1_000_000 };
  return { clock, polls: new DevicePolls(POLL_RULE, () => clock.now) };
}

test("allows a poll every 5 seconds, with a tolerance of one second", () => {
  const { clock, polls } = pollsAt();
  for (const pause of [0, 5000, 4000, 4999, 60_000]) {
    clock.now += pause;
    expect(polls.isTooSoon("a")).toBe(false);
  }
});

test("adds 5 seconds to the interval after each poll that came too soon, up to a minute", () => {
  const { clock, polls } = pollsAt();
  polls.isTooSoon("a");
  clock.now += 3999;
  expect(polls.isTooSoon("a")).toBe(true);
  clock.now += 8999;
  expect(polls.isTooSoon("a")).toBe(true);
  clock.now += 14_000;
  expect(polls.isTooSoon("a")).toBe(false);
  for (let count = 0; count < 100; count += 1) expect(polls.isTooSoon("a")).toBe(true);
  clock.now += 59_000;
  expect(polls.isTooSoon("a")).toBe(false);
});

test("counts the polls of each device code separately", () => {
  const { polls } = pollsAt();
  for (const code of ["a", "b", "c"]) expect(polls.isTooSoon(code)).toBe(false);
  for (const code of ["a", "b", "c"]) expect(polls.isTooSoon(code)).toBe(true);
});

test("forgets the oldest device code if there are more than 10,000", () => {
  const { polls } = pollsAt();
  for (let count = 0; count <= 10_000; count += 1) polls.isTooSoon(String(count));
  expect([polls.isTooSoon("10000"), polls.isTooSoon("0")]).toEqual([true, false]);
});
