import { expect, test } from "vitest";
import { makeCall, type CallWish } from "../../../../../test/fixtures/upstreams/harness.ts";
import { QUIET_MS, Turns } from "./turns.ts";

const of = (connection: string, wish: CallWish = {}) => makeCall("t", {}, { ...wish, client: { connection } });

test("calls go side by side until the server is seen to ask, then one client at a time in order", async () => {
  const turns = new Turns(false);
  const leaveAda = await turns.enter(of("ada"));
  const leaveBob = await turns.enter(of("bob"));
  turns.serialise();
  const order: string[] = [];
  const cleo = turns.enter(of("cleo")).then((leave) => (order.push("cleo"), leave));
  const dora = turns.enter(of("dora")).then((leave) => (order.push("dora"), leave));
  leaveAda();
  await Promise.resolve();
  expect(order).toEqual([]);
  leaveBob();
  (await cleo)();
  (await dora)();
  expect(order).toEqual(["cleo", "dora"]);
});

test("calls of the client that is inside do not wait", async () => {
  const turns = new Turns(true);
  const leave = await turns.enter(of("ada"));
  const again = await turns.enter(of("ada"));
  leave();
  again();
  leave();
  await expect(turns.enter(of("bob"))).resolves.toBeTypeOf("function");
});

test("whoever gives up waiting leaves the queue to the others", async () => {
  const turns = new Turns(true);
  const leave = await turns.enter(of("ada"));
  const controller = new AbortController();
  const bob = turns.enter(of("bob", { signal: controller.signal }));
  const cleo = turns.enter(of("cleo"));
  controller.abort();
  await expect(bob).rejects.toMatchObject({ failure: { kind: "cancelled" } });
  leave();
  await expect(cleo).resolves.toBeTypeOf("function");
});

const LOCAL = { principal: "local" };

/** Resolves with whether the call is let in before what was said to happen has happened. */
async function isLetIn(entering: Promise<() => void>, before: Promise<unknown>): Promise<boolean> {
  return Promise.race([entering.then(() => true), before.then(() => false)]);
}

test("a client that only waits for people gives its turn up; its answer takes the turn back", async () => {
  const turns = new Turns(true);
  await turns.enter(of("ada", LOCAL));
  const bob = turns.enter(of("bob", LOCAL));
  turns.asked("ada");
  const leaveBob = await bob;
  expect(turns.hasYielded("ada")).toBe(true);
  const passing = turns.takeBack("ada");
  const cleo = turns.enter(of("cleo", LOCAL));
  leaveBob();
  expect(await isLetIn(cleo, passing)).toBe(false);
  expect(turns.hasYielded("ada")).toBe(false);
});

test("a client with a call that was not asked for keeps its turn", async () => {
  const turns = new Turns(true);
  await turns.enter(of("ada", LOCAL));
  const leaveQuick = await turns.enter(of("ada", LOCAL));
  turns.asked("ada");
  const bob = turns.enter(of("bob", LOCAL));
  const quiet = new Promise((resolve) => setTimeout(resolve, 4 * QUIET_MS));
  expect(await isLetIn(bob, quiet)).toBe(false);
  leaveQuick();
  await expect(bob).resolves.toBeTypeOf("function");
});

test("an answer waits a bounded time for the turn, and is then passed on without it", async () => {
  const turns = new Turns(true);
  await turns.enter(of("ada", LOCAL));
  turns.asked("ada");
  await turns.enter(of("bob", LOCAL));
  await turns.takeBack("ada");
  expect(turns.hasYielded("ada")).toBe(false);
});

test("between principals the whole turn is kept, people included; the same principal's others go ahead", async () => {
  const turns = new Turns(true);
  const leaveAda = await turns.enter(of("ada", { principal: "a" }));
  turns.asked("ada");
  const eve = turns.enter(of("eve", { principal: "b" }));
  const leaveCleo = await turns.enter(of("cleo", { principal: "a" }));
  leaveCleo();
  expect(await isLetIn(eve, new Promise((resolve) => setTimeout(resolve, 4 * QUIET_MS)))).toBe(false);
  turns.settled("ada");
  leaveAda();
  await expect(eve).resolves.toBeTypeOf("function");
});

test("while a question could be of several clients nobody is let in, not even a client that is inside", async () => {
  const turns = new Turns(true);
  await turns.enter(of("ada", LOCAL));
  turns.hold(true);
  const again = turns.enter(of("ada", LOCAL));
  expect(await isLetIn(again, new Promise((resolve) => setTimeout(resolve, 2 * QUIET_MS)))).toBe(false);
  turns.hold(false);
  await expect(again).resolves.toBeTypeOf("function");
});

test("a call of a client that has a question to answer waits a bounded time: the answer may need it", async () => {
  const turns = new Turns(true);
  await turns.enter(of("ada", LOCAL));
  turns.asked("ada");
  await turns.enter(of("bob", LOCAL));
  await expect(turns.enter(of("ada", LOCAL))).resolves.toBeTypeOf("function");
});

test("a client whose named question was open before turns began gives its turn up as well", async () => {
  const turns = new Turns(false);
  await turns.enter(of("ada", LOCAL));
  turns.asked("ada");
  const leaveBob = await turns.enter(of("bob", LOCAL));
  turns.serialise();
  leaveBob();
  await expect(turns.enter(of("cleo", LOCAL))).resolves.toBeTypeOf("function");
});

test("an answer that waits for the turn of a question taken back does not keep the client from yielding", async () => {
  const turns = new Turns(true);
  await turns.enter(of("ada", LOCAL));
  turns.asked("ada");
  const leaveBob = await turns.enter(of("bob", LOCAL));
  const passing = turns.takeBack("ada");
  turns.settled("ada");
  turns.asked("ada");
  await passing;
  leaveBob();
  await expect(turns.enter(of("cleo", LOCAL))).resolves.toBeTypeOf("function");
});
