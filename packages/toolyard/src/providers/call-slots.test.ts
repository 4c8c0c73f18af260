import { expect, test } from "vitest";
import { Canceller } from "../core/calls/cancellation.ts";
import { CallSlots } from "./call-slots.ts";

test("gives a released slot to the call that waits longest", async () => {
  const slots = new CallSlots(1);
  const leave = await slots.enter(new Canceller());
  const order: string[] = [];
  const waiting = ["first", "second"].map(async (name) => {
    const next = await slots.enter(new Canceller());
    order.push(name);
    next();
  });
  leave();
  await Promise.all(waiting);
  expect(order).toEqual(["first", "second"]);
});

test("refuses a call of a disconnected caller, and keeps the slots of others", async () => {
  const slots = new CallSlots(1);
  const leave = await slots.enter(new Canceller());
  const waiting = slots.enter(new Canceller());
  const gone = new Canceller();
  gone.abort(new Error("gone"));
  await expect(slots.enter(gone)).rejects.toMatchObject({ failure: { kind: "cancelled" } });
  leave();
  await expect(waiting).resolves.toBeTypeOf("function");
});

test("skips a call that was cancelled in the queue", async () => {
  const slots = new CallSlots(1);
  const leave = await slots.enter(new Canceller());
  const impatient = new Canceller();
  const [given, patient] = [slots.enter(impatient), slots.enter(new Canceller())];
  impatient.abort(new Error("enough"));
  await expect(given).rejects.toMatchObject({ failure: { kind: "cancelled" } });
  leave();
  await expect(patient).resolves.toBeTypeOf("function");
});
