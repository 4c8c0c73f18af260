import { expect, test } from "vitest";
import { LINK_MS, BrowserSessions } from "./sessions.ts";

function sessions(now = { ms: 0 }, maxSessions = 3): BrowserSessions {
  return new BrowserSessions({ sessionMs: 1000, maxSessions }, () => now.ms);
}

test("finds a session only by its cookie together with its key", () => {
  const kept = sessions();
  const [one, other] = [kept.open("Bearer a"), kept.open("Bearer b")];
  expect(kept.find(one.cookie, one.key)).toMatchObject({ authorization: "Bearer a" });
  expect(kept.find(other.cookie, other.key)).toMatchObject({ authorization: "Bearer b" });
  for (const [cookie, key] of [
    [one.cookie, ""],
    [one.cookie, other.key],
    ["", one.key],
    [other.cookie, one.key],
    [one.key, one.cookie],
    [`${one.cookie}x`, one.key],
  ] as const)
    expect(kept.find(cookie, key)).toBeUndefined();
});

test("ends a session after the time without requests, and not before", () => {
  const now = { ms: 0 };
  const kept = sessions(now);
  const { cookie, key } = kept.open("Bearer a");
  for (const ms of [900, 1800, 2700]) {
    now.ms = ms;
    expect(kept.find(cookie, key)).toBeDefined();
  }
  now.ms = 3800;
  expect(kept.find(cookie, key)).toBeUndefined();
  expect(kept.size).toBe(0);
});

test("at the limit of sessions, ends the least recently used session", () => {
  const kept = sessions();
  const [one, two, three] = [kept.open("Bearer 1"), kept.open("Bearer 2"), kept.open("Bearer 3")];
  kept.find(one.cookie, one.key);
  kept.open("Bearer 4");
  expect(kept.size).toBe(3);
  expect(kept.find(two.cookie, two.key)).toBeUndefined();
  expect(kept.find(one.cookie, one.key)).toBeDefined();
  expect(kept.find(three.cookie, three.key)).toBeDefined();
});

test("accepts the code of a link once and for a limited time", () => {
  const now = { ms: 0 };
  const kept = sessions(now);
  const code = kept.createLink("Bearer a");
  expect(kept.useLink("wrong")).toBeUndefined();
  expect(kept.useLink(code)).toMatchObject({ authorization: "Bearer a" });
  expect(kept.useLink(code)).toBeUndefined();
  const late = kept.createLink("Bearer a");
  now.ms = LINK_MS + 1;
  expect(kept.useLink(late)).toBeUndefined();
});

test("keeps a limited number of links", () => {
  const kept = sessions();
  const codes = Array.from({ length: 100 }, () => kept.createLink("Bearer a"));
  expect(codes.filter((code) => kept.useLink(code)).length).toBe(32);
});
