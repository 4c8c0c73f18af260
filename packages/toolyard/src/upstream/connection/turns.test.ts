import { expect, test } from "vitest";
import type { Call } from "../../core/calls/call.ts";
import { makeCall, type CallWish } from "../../../../../test/fixtures/upstreams/harness.ts";
import { QUIET_MS, Turns } from "./turns.ts";

const of = (connection: string, wish: CallWish = {}) => makeCall("t", {}, { ...wish, client: { connection } });

/** Enters, and returns a function that leaves at its first call. */
async function enter(turns: Turns, call: Call): Promise<() => void> {
  await turns.enter(call);
  let isInside = true;
  return () => {
    if (isInside) turns.leave(call);
    isInside = false;
  };
}

test("runs calls concurrently until the server sends a request, then one client at a time in order", async () => {
  const turns = new Turns(false);
  const leaveAda = await enter(turns, of("ada"));
  const leaveBob = await enter(turns, of("bob"));
  turns.serialise();
  const order: string[] = [];
  const cleo = enter(turns, of("cleo")).then((leave) => (order.push("cleo"), leave));
  const dora = enter(turns, of("dora")).then((leave) => (order.push("dora"), leave));
  leaveAda();
  await Promise.resolve();
  expect(order).toEqual([]);
  leaveBob();
  (await cleo)();
  (await dora)();
  expect(order).toEqual(["cleo", "dora"]);
});

test("admits calls of the client with the turn immediately", async () => {
  const turns = new Turns(true);
  const leave = await enter(turns, of("ada"));
  const again = await enter(turns, of("ada"));
  leave();
  again();
  leave();
  await expect(enter(turns, of("bob"))).resolves.toBeTypeOf("function");
});

test("removes a cancelled call from the queue", async () => {
  const turns = new Turns(true);
  const leave = await enter(turns, of("ada"));
  const controller = new AbortController();
  const bob = enter(turns, of("bob", { signal: controller.signal }));
  const cleo = enter(turns, of("cleo"));
  controller.abort();
  await expect(bob).rejects.toMatchObject({ failure: { kind: "cancelled" } });
  leave();
  await expect(cleo).resolves.toBeTypeOf("function");
});

const LOCAL = { principal: "local" };

/** Returns whether the call is admitted before the given event. */
async function isLetIn(entering: Promise<() => void>, before: Promise<unknown>): Promise<boolean> {
  return Promise.race([entering.then(() => true), before.then(() => false)]);
}

test("a client that only waits for users yields its turn, and takes it back for its answer", async () => {
  const turns = new Turns(true);
  await enter(turns, of("ada", LOCAL));
  const bob = enter(turns, of("bob", LOCAL));
  turns.asked("ada");
  const leaveBob = await bob;
  expect(turns.hasYielded("ada")).toBe(true);
  const passing = turns.takeBack("ada");
  const cleo = enter(turns, of("cleo", LOCAL));
  leaveBob();
  expect(await isLetIn(cleo, passing)).toBe(false);
  expect(turns.hasYielded("ada")).toBe(false);
});

test("a client keeps its turn while it has a call without a request", async () => {
  const turns = new Turns(true);
  await enter(turns, of("ada", LOCAL));
  const leaveQuick = await enter(turns, of("ada", LOCAL));
  turns.asked("ada");
  const bob = enter(turns, of("bob", LOCAL));
  const quiet = new Promise((resolve) => setTimeout(resolve, 4 * QUIET_MS));
  expect(await isLetIn(bob, quiet)).toBe(false);
  leaveQuick();
  await expect(bob).resolves.toBeTypeOf("function");
});

test("after a time limit, passes an answer on although its client has no turn", async () => {
  const turns = new Turns(true);
  await enter(turns, of("ada", LOCAL));
  turns.asked("ada");
  await enter(turns, of("bob", LOCAL));
  await turns.takeBack("ada");
  expect(turns.hasYielded("ada")).toBe(false);
});

test("between principals, keeps the turn while users are asked, and admits calls of the same principal", async () => {
  const turns = new Turns(true);
  const leaveAda = await enter(turns, of("ada", { principal: "a" }));
  turns.asked("ada");
  const eve = enter(turns, of("eve", { principal: "b" }));
  const leaveCleo = await enter(turns, of("cleo", { principal: "a" }));
  leaveCleo();
  expect(await isLetIn(eve, new Promise((resolve) => setTimeout(resolve, 4 * QUIET_MS)))).toBe(false);
  turns.settled("ada");
  leaveAda();
  await expect(eve).resolves.toBeTypeOf("function");
});

test("while a request may belong to several clients, admits no call, even of the client with the turn", async () => {
  const turns = new Turns(true);
  await enter(turns, of("ada", LOCAL));
  turns.hold(true);
  const again = enter(turns, of("ada", LOCAL));
  expect(await isLetIn(again, new Promise((resolve) => setTimeout(resolve, 2 * QUIET_MS)))).toBe(false);
  turns.hold(false);
  await expect(again).resolves.toBeTypeOf("function");
});

test("a call of a client that must answer a request waits for its turn no longer than a time limit", async () => {
  const turns = new Turns(true);
  await enter(turns, of("ada", LOCAL));
  turns.asked("ada");
  await enter(turns, of("bob", LOCAL));
  await expect(enter(turns, of("ada", LOCAL))).resolves.toBeTypeOf("function");
});

test("a client also yields its turn if the server's request arrived before clients took turns", async () => {
  const turns = new Turns(false);
  await enter(turns, of("ada", LOCAL));
  turns.asked("ada");
  const leaveBob = await enter(turns, of("bob", LOCAL));
  turns.serialise();
  leaveBob();
  await expect(enter(turns, of("cleo", LOCAL))).resolves.toBeTypeOf("function");
});

test("a client yields its turn even if an answer to a withdrawn request is still queued", async () => {
  const turns = new Turns(true);
  await enter(turns, of("ada", LOCAL));
  turns.asked("ada");
  const leaveBob = await enter(turns, of("bob", LOCAL));
  const passing = turns.takeBack("ada");
  turns.settled("ada");
  turns.asked("ada");
  await passing;
  leaveBob();
  await expect(enter(turns, of("cleo", LOCAL))).resolves.toBeTypeOf("function");
});
