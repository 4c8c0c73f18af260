import { expect, test } from "vitest";
import { makeCall, type CallWish } from "../../test/fixtures/upstreams/harness.ts";
import { Turns } from "./turns.ts";

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
