import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RequestSeal, type RelayedFacts } from "./sealed-request.ts";

const SECRET = Buffer.from("secret-of-the-store");
const FACTS: RelayedFacts = {
  to: "hub-2",
  method: "POST",
  target: "/mcp",
  route: 0,
  headers: { "content-type": "application/json" },
  principal: "ann",
  remoteAddress: "127.0.0.1",
  baseUrl: "http://127.0.0.1:8808",
  path: "/mcp",
  search: "",
  mount: "",
} as unknown as RelayedFacts;
const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

let sender: RequestSeal;
let receiver: RequestSeal;
let logged: unknown[][];

/** `differenceMs`: milliseconds by which the hub's clock is ahead of the test's clock. */
function sealOf(hub: string, { secret = SECRET, differenceMs = 0 } = {}): RequestSeal {
  const logger = { warning: (...line: unknown[]) => void logged.push(line) };
  return new RequestSeal({ hub, secret: () => secret, now: () => Date.now() + differenceMs, logger });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  logged = [];
  sender = sealOf("hub-1");
  receiver = sealOf("hub-2");
});
afterEach(() => vi.useRealTimers());

test.each([
  ["a text", BODY],
  ["bytes", Buffer.from(BODY)],
  ["nothing", ""],
])("opens a request with %s as its body", (_, body) => {
  const opened = receiver.open(sender.seal(FACTS, body));
  expect(opened?.head).toMatchObject({ ...FACTS, from: "hub-1" });
  expect(opened?.body.toString()).toBe(body.toString());
});

describe("refuses", () => {
  test("a request that arrives a second time, also much later", () => {
    const request = sender.seal(FACTS, BODY);
    vi.advanceTimersByTime(30_000);
    expect(receiver.open(request)).toBeDefined();
    expect(receiver.open(request)).toBeUndefined();
    vi.advanceTimersByTime(29_000);
    expect(receiver.open(request)).toBeUndefined();
  });

  test("a request for another hub", () => {
    expect(sealOf("hub-3").open(sender.seal(FACTS, BODY))).toBeUndefined();
  });

  test("a request of a program with another secret", () => {
    const forger = sealOf("hub-1", { secret: Buffer.from("guess") });
    expect(receiver.open(forger.seal(FACTS, BODY))).toBeUndefined();
  });

  test.each([-60_001, 60_001])("a request that was sent %d ms from now", (difference) => {
    vi.setSystemTime(Date.now() + difference);
    const request = sender.seal(FACTS, BODY);
    vi.setSystemTime(Date.now() - difference);
    expect(receiver.open(request)).toBeUndefined();
  });

  test("a request with one changed byte, at every place", () => {
    const { bytes, code } = sender.seal(FACTS, BODY);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(receiver.open({ bytes: changed, code }), `byte ${at}`).toBeUndefined();
    }
    expect(receiver.open({ bytes, code })).toBeDefined();
  });

  test.each(["", "x", "A".repeat(43), "é".repeat(43)])("the code %j", (code) => {
    expect(receiver.open({ bytes: sender.seal(FACTS, BODY).bytes, code })).toBeUndefined();
  });

  test.each([0, 3])("a body of %d bytes without a head", (length) => {
    expect(receiver.open({ bytes: Buffer.alloc(length), code: "A".repeat(43) })).toBeUndefined();
  });
});

test.each([-59_000, 59_000])("opens a request if the clocks of the hubs differ by %d ms", (differenceMs) => {
  expect(sealOf("hub-2", { differenceMs }).open(sender.seal(FACTS, BODY))).toBeDefined();
  expect(logged).toEqual([]);
});

test.each([-3_600_000, -61_000, 61_000])("logs once that a clock differs by %d ms", (differenceMs) => {
  const late = sealOf("hub-2", { differenceMs });
  for (let count = 0; count < 3; count += 1) expect(late.open(sender.seal(FACTS, BODY))).toBeUndefined();
  expect(logged).toEqual([[expect.stringContaining("clocks"), { hub: "hub-1", differenceMs }]]);
});

test("does not log the clock of a program that has another secret", () => {
  vi.setSystemTime(Date.now() + 100_000);
  const forged = sealOf("hub-1", { secret: Buffer.from("guess") }).seal(FACTS, BODY);
  vi.setSystemTime(Date.now() - 100_000);
  expect(receiver.open(forged)).toBeUndefined();
  expect(logged).toEqual([]);
});
