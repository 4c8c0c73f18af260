import { expect, test } from "vitest";
import { RefusalCount } from "./refusal-count.ts";
import { Refusal } from "./refusal.ts";

const REFUSAL = new Refusal(401, "No token", { "www-authenticate": "Bearer" });

function firstThatCloses(count: (at: number) => Refusal): number {
  for (let at = 1; at <= 2000; at += 1) if (count(at).headers["connection"] === "close") return at;
  return Infinity;
}

test("closes a connection with its hundredth refusal", () => {
  const counts = new RefusalCount();
  const connection = {};
  expect(firstThatCloses(() => counts.add(REFUSAL, connection, "192.0.2.1"))).toBe(101);
  expect(counts.add(REFUSAL, {}, "192.0.2.1")).toBe(REFUSAL);
});

test("closes each connection of an address after a thousand refusals, and no connection of another address", () => {
  const counts = new RefusalCount();
  expect(firstThatCloses(() => counts.add(REFUSAL, {}, "192.0.2.1"))).toBe(1001);
  expect(counts.add(REFUSAL, {}, "192.0.2.2")).toBe(REFUSAL);
  expect(counts.add(REFUSAL, undefined, "192.0.2.1").headers).toEqual({
    "www-authenticate": "Bearer",
    connection: "close",
  });
});

test("keeps status and message of the refusal that closes the connection", () => {
  const counts = new RefusalCount();
  const connection = {};
  let last = REFUSAL;
  for (let at = 0; at < 101; at += 1) last = counts.add(REFUSAL, connection, "");
  expect(last).toMatchObject({ status: 401, message: "No token" });
});
